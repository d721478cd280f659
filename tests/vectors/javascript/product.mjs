// What is tested, whichever way it is packed: the sources module by module, or the one assembled script.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

const root = process.env.SOTTOVOCE_WEB;
const files = JSON.parse(process.env.SOTTOVOCE_MODULES);
const loaded = await Promise.all(files.map((file) => import(pathToFileURL(join(root, file)))));

export const product = Object.assign({}, ...loaded);
// As if a survey had named everything that surveys can name.
await product.bringReaders({ access: {}, questions: [{ type: "note" }, { mechanism: { name: "joint_rr" } }], waves: [], arms: [], order: "random" });
const questions = [{ mechanism: { name: "level_table", block: {} } }];
await product.bringRandomizers({ memoized: [0], private: [0], questions });

/** One file of test vectors. */
export const vectors = (path) => JSON.parse(readFileSync(join(process.env.SOTTOVOCE_VECTORS, path), "utf-8"));

/** A repeatable source of bytes that counts what was read. */
export function tape(hex) {
  const bytes = Buffer.from(hex, "hex");
  const read = (count) => bytes.subarray(read.taken, (read.taken += count));
  read.taken = 0;
  read.given = bytes.length;
  return read;
}

/** The canonical document of a survey that asks one question. */
export const surveyOf = (question) => ({
  access: "open",
  default_language: "en",
  format: "sottovoce-survey/1",
  name: "vector",
  privacy: { procedure: "device", release_batch: 25 },
  questions: [question],
  retention: { ids_days: 30 },
  revision: 1,
  title: { en: "Vector" },
});
