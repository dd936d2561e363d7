/** Runs the samples of the API reference that are in TypeScript, which use no types, one after the other. */

import { openAsBlob, readFileSync } from "node:fs";

import { ProofKey } from "../../../clients/js/src/keys.js";
import { dpopProof } from "../../../clients/js/src/proof.js";
import { signIn } from "./account.js";
import { done } from "./say.js";

const [baseUrl, assertion, task] = process.argv.slice(2);
const { sources, names, file } = JSON.parse(readFileSync(task, "utf8"));
const AsyncFunction = (async () => {}).constructor;
const LEARNT = { org_id: "orgId", membership_id: "membershipId", budget_id: "budgetId", invitation_id: "invitationId" };

const { account } = await signIn(baseUrl, assertion);
const key = await ProofKey.generate();
const scope = { gateway: account, key, dpopProof, file: new File([await openAsBlob(file)], "speech.wav") };

/** Write a name as the samples do: `orgId`. */
function variable(name) {
  return name.replace(/_(\w)/g, (_, letter) => letter.toUpperCase());
}

/** Run one sample: the code of the error that it got, or null. */
async function run(source) {
  const shown = [];
  const known = Object.fromEntries(Object.entries(names).map(([name, value]) => [variable(name), value]));
  const given = { ...scope, ...known, console: { log: (...values) => shown.push(...values) } };
  const program = new AsyncFunction(...Object.keys(given), source.replace(/^import .*$/gm, ""));
  if (source.includes("connectRealtime")) return null; // Node.js 20 has no WebSocket
  try {
    await program(...Object.values(given));
  } catch (error) {
    if (!error.code) throw error;
    return error.code;
  }
  const [answer] = shown;
  if (answer === undefined) throw new Error(`nothing was shown by ${source}`);
  for (const [name, member] of Object.entries(LEARNT)) if (answer?.[member]) names[name] = answer[member];
  return answer?.error?.code ?? answer?.error ?? null;
}

const codes = {};
for (const [name, source] of Object.entries(sources)) codes[name] = await run(source);
done(codes);
