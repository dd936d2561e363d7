/** The browser client's own transport, in Node: what it signs is what the gateway takes, nonces and all. */

import { Account } from "../../../clients/js/src/account.js";
import { Caller } from "../../../clients/js/src/caller.js";
import { ProofKey } from "../../../clients/js/src/keys.js";
import { postJson } from "../../../clients/js/src/session.js";
import { Transport } from "../../../clients/js/src/transport.js";
import { done } from "./say.js";

const [baseUrl, assertion] = process.argv.slice(2);
const key = await ProofKey.generate();
const sent = [];
const transport = new Transport({
  baseUrl,
  key: async () => key,
  fetch: async (url, init) => {
    const response = await fetch(url, init);
    sent.push([new URL(url).pathname, response.status]);
    return response;
  },
});
const grant = await transport.json("/v1/auth/token/exchange", postJson({ assertion, dpop_jwk: key.jwk }));
const tokens = { token: async () => grant.access_token, renew: async () => grant.access_token };
const account = new Account(new Caller(transport, tokens));

const before = await account.wallet();
const body = { model: "fast", messages: [{ role: "user", content: "Hello" }] };
const whole = await account.chat(body, { maxCostMicrousd: 20_000 });
const key1 = crypto.randomUUID();
const stream = await account.chatStream(body, { maxCostMicrousd: 20_000, idempotencyKey: key1 });
let text = "";
for await (const delta of stream.text()) text += delta;
const replayed = await account.chatStream(body, { maxCostMicrousd: 20_000, idempotencyKey: key1 });
let again = "";
for await (const delta of replayed.text()) again += delta;
const after = await account.wallet();

async function refusal(act) {
  return act().then(
    () => null,
    (error) => [error.name, error.status, error.code, error.param],
  );
}

const refusals = {
  model: await refusal(() => account.chat({ ...body, model: "reasoning" }, { maxCostMicrousd: 20_000 })),
  cost: await refusal(() => account.chat(body, { maxCostMicrousd: 1 })),
  limit: await refusal(() => account.usage({ limit: 0 })),
  organizations: await refusal(() => account.organizations.list()),
};
const models = await account.models();
const model = await account.model("fast");
const usage = await account.usage({ limit: 2 });
const elsewhere = {};
for (const [method, model] of Object.entries({ embeddings: "embedding", images: "image", imageStream: "image", rerank: "rerank" })) {
  const [, , code] = await refusal(() => account[method]({ model }, { maxCostMicrousd: 9 }));
  elsewhere[method] = [code, sent.at(-1)[0]];
}
done({ sent, before, whole, text, again, receipts: [stream.receipt, replayed.receipt], after, refusals, models, model, elsewhere, usage });
