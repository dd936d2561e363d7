/** What a product's server does with the client, against a gateway that asks for nonces. */

import { ALICE, studio } from "./server.js";
import { done } from "./say.js";

const [url, pemFile, edPemFile] = process.argv.slice(2);
const { product, gatewayOf, sent } = await studio(url, pemFile);
const gateway = gatewayOf();
const body = { model: "fast", messages: [{ role: "user", content: "Hello" }] };

const wallets = await Promise.all(Array.from({ length: 50 }, () => gateway.wallet()));
const exchanges = sent.filter(([path]) => path.endsWith("/exchange")).length;
const whole = await gateway.chat(body, { maxCostMicrousd: 20_000 });
const stream = await gateway.chatStream(body, { maxCostMicrousd: 20_000 });
let text = "";
for await (const delta of stream.text()) text += delta;
const other = gatewayOf(ALICE, ["usage:read"]);
const refused = await other.wallet().catch(({ name, status, code }) => [name, status, code]);
const beyond = await gatewayOf(ALICE, ["orgs:manage"]).wallet().catch(({ name, status, code }) => [name, status, code]);
const stranger = await gatewayOf("did:web:elsewhere.example:bob").wallet().catch(({ name, code }) => [name, code]);
const claims = await gateway.verifyReceipt(await gateway.receipt(whole.receipt.usageId));

/** Replay an assertion, and redeem one with another key than it names. */
async function abused() {
  const proofKey = await product.tokensFor(ALICE, ["wallet:read"]).proofKey();
  const anotherKey = await product.tokensFor(ALICE, ["usage:read"]).proofKey();
  const assertion = await product.assertion(ALICE, ["wallet:read"], proofKey);
  const stolen = await product.exchange(assertion, anotherKey).catch(({ code }) => code);
  const { value } = await product.exchange(assertion, proofKey).catch(({ code }) => ({ value: code }));
  const replayed = await product.exchange(assertion, proofKey).catch(({ code }) => code);
  return { stolen, first: typeof value, replayed };
}

/** Do the same with a clock that is five minutes off, in this process alone. */
async function skewed(seconds) {
  const now = Date.now;
  Date.now = () => now() + seconds * 1000;
  try {
    const { gatewayOf: gatewayThen, sent: requests } = await studio(url, pemFile);
    const wallet = await gatewayThen().wallet();
    return { available: wallet.availableMicrousd, requests: requests.map(([path, status]) => [path, status]) };
  } finally {
    Date.now = now;
  }
}

const edwards = await studio(url, edPemFile, { issuer: "https://edwards.example" });
const account = await edwards.gatewayOf("did:web:edwards.example:eve", ["wallet:read"]).account();

done({
  wallets: wallets.length,
  exchanges,
  whole,
  text,
  receipt: stream.receipt,
  refused,
  beyond,
  stranger,
  claims,
  abused: await abused(),
  fast: await skewed(300),
  slow: await skewed(-300),
  account,
});
