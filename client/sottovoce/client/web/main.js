import { Respondent } from "./respondent.js";
import { BrowserLedger } from "./ledger.js";
import { parseLink } from "./link.js";
import { Transport } from "./transport.js";
import { checkDevice } from "./draws.js";

