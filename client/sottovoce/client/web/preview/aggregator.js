import { sha256 } from "../survey/canonical.js";
import { expectedReceipt } from "../survey/report.js";

// What the form asks an aggregator for, by the end of the address; the survey itself is in the page.
const REPLIES = {
  status: async ({ institution, name, text }) => ({
    format: "sottovoce-status/1",
    survey: name,
    closed_on: null,
    institution,
    revisions: [await standing(text)],
  }),
  token: async () => ({ format: "sottovoce-token/1", good: true }),
  reports: async (_, body) => expectedReceipt(body),
  withdraw: async ({ name }, body) => ({
    format: "sottovoce-withdrawal/1",
    survey: name,
    report_id: JSON.parse(body).report_id,
  }),
};

/** In the place of the network: an aggregator that takes every report of this survey, and forgets it at once. */
export function pretendedFetch(survey) {
  return async (address, { body } = {}) => {
    const asked = String(address).split("/").at(-1);
    if (!Object.hasOwn(REPLIES, asked)) return new Response(null, { status: 404 });
    return Response.json(await REPLIES[asked](survey, body));
  };
}

// Open in every wave, whatever its dates.
async function standing(text) {
  const { revision, waves = [{}] } = JSON.parse(text);
  return { digest: await sha256(text), revision, retired: false, waves: waves.map(() => "open") };
}
