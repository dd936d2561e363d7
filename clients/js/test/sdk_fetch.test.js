import assert from "node:assert/strict";
import { test } from "node:test";
import { ForeignOrigin, GatewayError, UnsafeRetry } from "../src/errors.js";
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

const lost = () => new Error("lost");
const failed = () => refusal(502, "upstream_error");
const keysOf = (requests) => new Set(requests.map(({ headers }) => headers.get("Idempotency-Key")));

/** A call of an SDK that does not count its attempts. */
function uncounted(body) {
  const { headers, ...rest } = call();
  delete headers["x-stainless-retry-count"];
  return { ...rest, headers, body };
}

function form(text) {
  const made = new FormData();
  made.set("model", "audio");
  made.set("file", new Blob([text]), "a.wav");
  return made;
}

const BODIES = { JSON: () => "{}", "a form": () => form("sound"), bytes: () => new TextEncoder().encode("{}") };
for (const [what, body] of Object.entries(BODIES)) {
  test(`an SDK that repeats a call of ${what} that failed repeats it with its key`, async () => {
    const { fetch, requests } = sdkOver(failed(), failed(), json({ ok: true }));
    await fetch(URL, uncounted(body()));
    await fetch(URL, uncounted(body()));
    await fetch(URL, { ...call({ "x-stainless-retry-count": "2" }), body: body() });
    assert.equal(requests.length, 3);
    assert.equal(keysOf(requests).size, 1);
  });
}

test("a call whose answers were all lost is repeated with its key", async () => {
  const { fetch, requests } = sdkOver(lost(), lost(), lost(), lost(), json({ ok: true }));
  await assert.rejects(fetch(URL, call()), { name: "GatewayUnreachable" });
  await fetch(URL, call({ "x-stainless-retry-count": "1" }));
  assert.deepEqual([requests.length, keysOf(requests).size], [5, 1]);
});

test("a refused token is an error each time that an SDK repeats the call, and never an unsafe retry", async () => {
  const { account } = accountOver();
  const token = async () => Promise.reject(new GatewayError(400, { code: "invalid_grant" }));
  account.caller.tokens = { ...account.caller.tokens, token };
  const fetch = account.sdkFetch({ maxCostMicrousd: 9 });
  for (const attempt of ["0", "1", "2"]) {
    await assert.rejects(fetch(URL, call({ "x-stainless-retry-count": attempt })), { code: "invalid_grant" });
  }
});

test("what is another call, or says that it is a first attempt, has a key of its own", async () => {
  const { fetch, requests } = sdkOver(failed(), ...Array.from({ length: 5 }, () => json({})));
  await fetch(URL, uncounted("{}"));
  await fetch(URL, uncounted('{"n":1}'));
  await fetch(`${URL}/2`, uncounted("{}"));
  await fetch(URL, call());
  await fetch(URL, uncounted("{}"));
  await fetch(URL, uncounted("{}"));
  assert.deepEqual(keysOf([requests[0]]), keysOf([requests[4]]), "the first equal call takes the key");
  assert.equal(keysOf(requests).size, 5, "and no other one does");
});

test("two equal calls that failed at once are repeated with their two keys", async () => {
  const { fetch, requests } = sdkOver(failed(), failed(), json({}), json({}));
  await Promise.all([fetch(URL, uncounted("{}")), fetch(URL, uncounted("{}"))]);
  await Promise.all([fetch(URL, uncounted("{}")), fetch(URL, uncounted("{}"))]);
  assert.equal(keysOf(requests).size, 2);
  assert.deepEqual(keysOf(requests.slice(0, 2)), keysOf(requests.slice(2)));
});

test("a call that was given up is repeated only by what says that it does", async () => {
  const { fetch, requests } = sdkOver(new DOMException("stop", "AbortError"), json({}), json({}));
  await assert.rejects(fetch(URL, { ...call(), signal: AbortSignal.abort() }), { name: "AbortError" });
  await fetch(URL, uncounted("{}"));
  await fetch(URL, call({ "x-stainless-retry-count": "1" }));
  assert.deepEqual(keysOf([requests[0]]), keysOf([requests[2]]));
  assert.equal(keysOf(requests).size, 2);
});

test("a refusal that nobody repeats leaves no key", async () => {
  const { fetch, requests } = sdkOver(refusal(402, "insufficient_funds"), json({}));
  await fetch(URL, uncounted("{}"));
  await fetch(URL, uncounted("{}"));
  assert.equal(keysOf(requests).size, 2);
});

test("a Request is sent like an address and its options, again if need be", async () => {
  const { fetch, requests } = sdkOver(lost(), json({ ok: true }));
  const request = new Request(URL, { ...call(), method: "POST", body: '{"model":"fast"}' });
  assert.equal((await fetch(request)).status, 200);
  assert.deepEqual(requests.map(({ body }) => new TextDecoder().decode(body)), ['{"model":"fast"}', '{"model":"fast"}']);
  assert.equal(keysOf(requests).size, 1);
});

test("a repetition of an unknown call is refused before anything is sent", async () => {
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

test("a reader who leaves after the last event still gets the charge", async () => {
  const rest = [`data: {"n":1}\n\n`, "data: [DONE]\n\n", CLOSING];
  const body = new ReadableStream({ pull: (to) => (rest.length ? to.enqueue(new TextEncoder().encode(rest.shift())) : to.close()) });
  const { fetch, receipts } = sdkOver(streamed(body));
  const reader = (await fetch(URL, call())).body.getReader();
  await reader.read();
  await reader.read();
  await reader.cancel();
  assert.deepEqual(receipts, [RECEIPT]);
});

test("the answer ends when its receipt has been dealt with, and fails where that fails", async () => {
  const metered = () => json({ ok: true }, 200, { ...METERED, "x-service-charge-microusd": "9" });
  const { account } = accountOver(metered(), metered());
  const told = [];
  const storing = async () => (await new Promise((resolve) => setTimeout(resolve, 20)), told.push("stored"));
  await (await account.sdkFetch({ maxCostMicrousd: 9, onReceipt: storing })(URL, call())).json();
  assert.deepEqual(told, ["stored"]);
  const failing = account.sdkFetch({ maxCostMicrousd: 9, onReceipt: async () => Promise.reject(new Error("disk full")) });
  await assert.rejects((await failing(URL, call())).json(), { message: "disk full" });
});

test("a receipt that is garbage is none", async () => {
  const { fetch, receipts } = sdkOver(streamed("data: [DONE]\n\n: service {charge\n\n"));
  assert.match(await (await fetch(URL, call())).text(), /DONE/);
  assert.deepEqual(receipts, [{ ...RECEIPT, chargeMicrousd: null }]);
});

test("what is read needs no key, and what is not metered has no receipt", async () => {
  const { fetch, receipts, requests } = sdkOver(json({ data: [] }), json({ input_tokens: 3 }));
  await (await fetch("https://g.example/v1/models")).json();
  await (await fetch("https://g.example/v1/messages/count_tokens", call())).json();
  assert.equal(requests[0].headers.get("Idempotency-Key"), null);
  assert.deepEqual(receipts, []);
});
