// Goes through the steps of the form, in a process of its own: it has a document of its own.
//
// In:   { scripts, survey, plan: as for javascript_driver.mjs, form: { catalogue, worker } }
// Out:  { found: [{ kind, questions }], count }
import { readFileSync } from "node:fs";

import { compareForms } from "./javascript_form.mjs";
import { loadProduct } from "./javascript_product.mjs";
import { Site } from "./javascript_site.mjs";

const { scripts, survey, plan, form } = JSON.parse(readFileSync(0, "utf-8"));
const print = process.stdout.write.bind(process.stdout);
const { product } = await loadProduct(scripts);
print(JSON.stringify(await compareForms(product, new Site(survey, plan.wave, plan.present), plan.vectors, form)));
