/** The browser client's own transport, in Node: what it signs is what the gateway takes, nonces and all. */

import { done } from "./say.js";
import { signIn } from "./account.js";

const [baseUrl, assertion] = process.argv.slice(2);
const { account, sent } = await signIn(baseUrl, assertion);

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
const methods = {
  embeddings: "embedding",
  contextualEmbeddings: "embedding-contextual",
  lateInteraction: "late-interaction",
  images: "image",
  imageStream: "image",
  rerank: "rerank",
};
for (const [method, model] of Object.entries(methods)) {
  const [, , code] = await refusal(() => account[method]({ model }, { maxCostMicrousd: 9 }));
  elsewhere[method] = [code, sent.at(-1)[0]];
}
done({ sent, before, whole, text, again, receipts: [stream.receipt, replayed.receipt], after, refusals, models, model, elsewhere, usage });
