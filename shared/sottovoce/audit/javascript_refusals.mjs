// What the browser's client must refuse before anything is drawn or sent, on the whole way: another survey than the
// link's, one that costs more than a person allows, and what is no answer.
import { Device, enter } from "./javascript_device.mjs";
import { Site } from "./javascript_site.mjs";

const SECRET = "a telling text";
// Of nothing but zeros no number above zero can be drawn.
const ONES = Buffer.alloc(1 << 16, 1);
const AMPLE = { question: Infinity, total: Infinity };

/** The kinds of what is not refused as it should be; empty if all is. `answers` are some that are right, or null. */
export async function checkWay(product, site, answers) {
  const found = [];
  const other = `${"0".repeat(16)}${site.link.digest.slice(16)}`;
  const weaker = new Site(JSON.stringify({ ...JSON.parse(site.text), revision: 999 }), site.wave, site.present);
  if (!(await isRefused(product, site, { link: { ...site.link, digest: other } }))) found.push("digest");
  if (!(await isRefused(product, weaker, { link: site.link }))) found.push("tampered");
  const { most, total } = await costs(product, site);
  if (!(await isRefused(product, site, { allowance: { question: most * 0.99, total: Infinity } }))) found.push("dear");
  if (!(await isRefused(product, site, { allowance: { question: Infinity, total: total * 0.99 } }))) found.push("dear");
  if (await isRefused(product, site, {})) found.push("everything");
  if (answers !== null && !(await areAnswersChecked(product, site, answers))) found.push("answers");
  return [...new Set(found)];
}

async function costs(product, site) {
  const survey = await product.loadSurvey(new TextEncoder().encode(site.text));
  return { most: Math.max(...survey.questions.map(({ epsilon }) => epsilon)), total: survey.epsilon };
}

async function isRefused(product, site, change) {
  const device = start(site);
  try {
    await connect(product, site, change);
    return false;
  } catch {
    return !isTouched(device);
  }
}

function start(site) {
  const device = new Device(ONES, (request) => site.answer(request), 0, site.present);
  enter(device);
  return device;
}

async function connect(product, site, { link = site.link, allowance = AMPLE }) {
  const transport = new product.Transport(link.origin);
  const ledger = await product.BrowserLedger.open();
  return product.Respondent.connect(link, transport, ledger, { allowance, wave: site.wave });
}

function isTouched(device) {
  return device.position > 0 || isSent(device);
}

function isSent({ events }) {
  // What is redeemed comes before the answers.
  const isSend = (method, address) => method === "POST" && !address.endsWith("/redeem");
  return events.some(([kind, method, address]) => kind === "request" && isSend(method, address));
}

// One wrong answer in each question's turn: refused, with nothing drawn for it, sent or kept, and never repeated.
async function areAnswersChecked(product, site, answers) {
  const survey = await product.loadSurvey(new TextEncoder().encode(site.text));
  for (const { name } of [...survey.questions, { name: "no question at all" }]) {
    const device = start(site);
    const respondent = await connect(product, site, {});
    const asked = (await respondent.asked()).map((index) => survey.questions[index].name);
    if (!asked.includes(name) && name !== "no question at all") continue;
    const set = device.position;
    await redeemWhereAsked(product, respondent);
    const before = device.position;
    const told = await refusalOf(new product.AnswerPath(respondent), { ...answers, [name]: SECRET });
    // What is hidden is not looked at, and so may be anything; it must come to nothing.
    const isHidden = told === null && survey.conditional.some((question) => question.name === name);
    // A set of questions is drawn once more, and the ledger's stands.
    const isTaken = !isHidden && (told === null || device.position > before + set || isReportIn(device));
    if (isTaken || JSON.stringify([told, device.events, device.databases.dump()]).includes(SECRET)) return false;
  }
  return true;
}

async function redeemWhereAsked(product, respondent) {
  if (respondent.survey.isBlind) await product.redeem(respondent);
}

function isReportIn(device) {
  return isSent(device) || JSON.stringify(device.databases.dump()).includes("report_id");
}

async function refusalOf(path, answers) {
  try {
    await path.answer(answers);
    return null;
  } catch (error) {
    return JSON.stringify([error.name, error.message, error.stack, Object.entries(error)]);
  }
}
