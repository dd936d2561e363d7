import assert from "node:assert/strict";
import { test } from "node:test";
import { ForeignOrigin, UnsafeRetry } from "../src/errors.js";
import { accountOver, json, refusal } from "./fakes.js";

const URL = "https://g.example/v1/messages";
const METERED = { "x-service-usage-id": "use_1", "x-service-hold-microusd": "612" };
const CLOSING = ': service {"usage_id":"use_1","charge_microusd":9}\n\n';
const RECEIPT = { usageId: "use_1", holdMicrousd: 612, chargeMicrousd: 9, replayed: false };

function sdkOver(...answers) {
  const { account, gateway } = accountOver(...answers);
  const receipts = [];
  const fetch = account.sdkFetch({ maxCostMicrousd: 700, onReceipt: (receipt) => receipts.push(receipt) });
  return { fetch, receipts, requests: gateway.requests };
}

function call(headers = {}) {
  const sdks = { "content-type": "application/json", "x-stainless-retry-count": "0", "x-stainless-lang": "js", "x-api-key": "unused" };
  return { method: "post", headers: { ...sdks, "anthropic-version": "2023-06-01", ...headers }, body: "{}" };
}

function streamed(text) {
  return new Response(text, { headers: { ...METERED, "Content-Type": "text/event-stream" } });
}

test("a call is proved, keyed and limited, and says nothing of the SDK", async () => {
  const { fetch, requests } = sdkOver(json({ id: "msg_1" }));
  assert.equal((await (await fetch(URL, call())).json()).id, "msg_1");
  const [{ headers }] = requests;
  assert.match(headers.get("Authorization"), /^DPoP /);
  assert.match(headers.get("Idempotency-Key"), /^[0-9a-f-]{36}$/);
  assert.deepEqual([headers.get("x-service-max-cost-microusd"), headers.get("anthropic-version")], ["700", "2023-06-01"]);
  assert.deepEqual([headers.get("x-stainless-lang"), headers.get("x-api-key")], [null, null]);
});

test("the call's own key and limit remain", async () => {
  const { fetch, requests } = sdkOver(json({}));
  await fetch(URL, call({ "Idempotency-Key": "mine", "x-service-max-cost-microusd": "5", "x-stainless-retry-count": "1" }));
  const [{ headers }] = requests;
  assert.deepEqual([headers.get("Idempotency-Key"), headers.get("x-service-max-cost-microusd")], ["mine", "5"]);
});

test("a lost answer is requested again with the same key", async () => {
  const { fetch, requests } = sdkOver(new Error("lost"), json({ ok: true }));
  assert.equal((await fetch(URL, call())).status, 200);
  assert.equal(new Set(requests.map(({ headers }) => headers.get("Idempotency-Key"))).size, 1);
  assert.equal(requests.length, 2);
});

test("a refusal that passes is repeated; another one is the SDK's, which is told not to repeat it", async () => {
  const passing = refusal(503, "upstream_overloaded", { "Retry-After": "0" });
  const { fetch, requests } = sdkOver(passing, refusal(502, "upstream_error"));
  const response = await fetch(URL, call());
  assert.deepEqual([response.status, response.headers.get("x-should-retry")], [502, "false"]);
  assert.equal((await response.json()).error.code, "upstream_error");
  assert.equal(requests.length, 2);
});

test("an SDK that repeats a call itself is refused before anything is sent", async () => {
  const { fetch, requests } = sdkOver();
  await assert.rejects(fetch(URL, call({ "x-stainless-retry-count": "1" })), UnsafeRetry);
  await assert.rejects(fetch("https://elsewhere.example/v1/messages", call()), ForeignOrigin);
  assert.deepEqual(requests, []);
});

test("a whole answer tells its receipt when it was read", async () => {
  const { fetch, receipts } = sdkOver(json({ ok: true }, 200, { ...METERED, "x-service-charge-microusd": "9" }));
  assert.deepEqual(await (await fetch(URL, call())).json(), { ok: true });
  assert.deepEqual(receipts, [RECEIPT]);
});

test("a stream tells its receipt at its end", async () => {
  const { fetch, receipts } = sdkOver(streamed(`event: message_stop\ndata: {"type":"message_stop"}\n\n${CLOSING}`));
  const response = await fetch(URL, call());
  assert.deepEqual(receipts, []);
  assert.match(await response.text(), /message_stop/);
  assert.deepEqual(receipts, [RECEIPT]);
});

test("a stream that is left, or breaks off, has a receipt without a charge", async () => {
  const broken = new ReadableStream({ pull: (controller) => controller.error(new Error("broke off")) });
  const { fetch, receipts } = sdkOver(streamed("data: one\n\n"), streamed(broken));
  await (await fetch(URL, call())).body.cancel();
  await assert.rejects((await fetch(URL, call())).text());
  assert.deepEqual(receipts, [{ ...RECEIPT, chargeMicrousd: null }, { ...RECEIPT, chargeMicrousd: null }]);
});

test("what is read needs no key, and what is not metered has no receipt", async () => {
  const { fetch, receipts, requests } = sdkOver(json({ data: [] }), json({ input_tokens: 3 }));
  await (await fetch("https://g.example/v1/models")).json();
  await (await fetch("https://g.example/v1/messages/count_tokens", call())).json();
  assert.equal(requests[0].headers.get("Idempotency-Key"), null);
  assert.deepEqual(receipts, []);
});
