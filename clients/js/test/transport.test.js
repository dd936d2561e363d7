import assert from "node:assert/strict";
import { test } from "node:test";
import { Caller } from "../src/caller.js";
import { GatewayError } from "../src/errors.js";
import { ProofKey } from "../src/keys.js";
import { send } from "../src/metered.js";
import { Transport } from "../src/transport.js";
import { answering, json, oauthRefusal, read, refusal } from "./fakes.js";

const URL_OF_GATEWAY = "https://gateway.example";
const key = await ProofKey.generate();

function transportTo(gateway, baseUrl = URL_OF_GATEWAY) {
  return new Transport({ baseUrl, key: async () => key, fetch: gateway.fetch });
}

function callerTo(gateway, tokens = ["t1", "t2"]) {
  const renewed = [];
  const renew = async (refused) => (renewed.push(refused), (tokens = tokens.slice(1))[0]);
  return { caller: new Caller(transportTo(gateway), { token: async () => tokens[0], renew }), renewed };
}

function proofOf(request) {
  return read(request.headers.get("DPoP")).claims;
}

test("every request has a proof of its own, no cookies and no redirects", async () => {
  const gateway = answering({}, {});
  const transport = transportTo(gateway);
  await transport.request("/v1/wallet?x=1", {}, "token");
  await transport.request("/v1/wallet?x=1", {}, "token");
  const [first, second] = gateway.requests;
  assert.equal(first.url, `${URL_OF_GATEWAY}/v1/wallet?x=1`);
  assert.equal(first.headers.get("Authorization"), "DPoP token");
  assert.equal(proofOf(first).htu, `${URL_OF_GATEWAY}/v1/wallet`);
  assert.notEqual(proofOf(first).jti, proofOf(second).jti);
  assert.deepEqual([first.redirect, first.credentials, first.cache], ["manual", "omit", "no-store"]);
});

test("a gateway below a path is reached and proven there", async () => {
  const gateway = answering({});
  await transportTo(gateway, `${URL_OF_GATEWAY}/ai`).request("/v1/wallet");
  assert.equal(proofOf(gateway.requests[0]).htu, `${URL_OF_GATEWAY}/ai/v1/wallet`);
});

test("a nonce is asked for once, and kept", async () => {
  const gateway = answering(oauthRefusal("use_dpop_nonce", { "DPoP-Nonce": "n1" }), {}, json({}, 200, { "DPoP-Nonce": "n2" }), {});
  const transport = transportTo(gateway);
  await transport.json("/v1/public/token", { method: "POST" });
  await transport.json("/v1/wallet");
  await transport.json("/v1/wallet");
  assert.deepEqual(gateway.requests.map((request) => proofOf(request).nonce), [undefined, "n1", "n1", "n2"]);
});

test("a gateway that never takes a nonce is not asked for ever", async () => {
  const challenge = () => refusal(401, "use_dpop_nonce", { "DPoP-Nonce": "n1" });
  const gateway = answering(challenge(), challenge());
  await assert.rejects(transportTo(gateway).json("/v1/wallet"), { code: "use_dpop_nonce", status: 401, requestId: "req_1" });
  assert.equal(gateway.requests.length, 2);
});

test("a wrong clock is set by the gateway's, once", async () => {
  const there = new Date(Date.now() + 3_600_000).toUTCString();
  const stale = () => refusal(401, "invalid_dpop_proof", { Date: there });
  const gateway = answering(stale(), {}, stale());
  const transport = transportTo(gateway);
  await transport.json("/v1/wallet");
  const [before, after] = gateway.requests.map((request) => proofOf(request).iat);
  assert.ok(Math.abs(after - before - 3600) <= 2);
  await assert.rejects(transport.json("/v1/wallet"), { code: "invalid_dpop_proof" });
});

test("a proof that is refused for another reason is not sent again", async () => {
  const gateway = answering(refusal(401, "invalid_dpop_proof", { Date: new Date().toUTCString() }));
  await assert.rejects(transportTo(gateway).json("/v1/wallet"), { code: "invalid_dpop_proof" });
  assert.equal(gateway.requests.length, 1);
});

for (const address of ["https://evil.example/v1/wallet", "//evil.example/v1", "http://gateway.example/v1", "https://gateway.example:444/"]) {
  test(`a token does not go to ${address}`, async () => {
    const gateway = answering({});
    const sending = transportTo(gateway).request(address, {}, "token");
    if (address.startsWith("//")) {
      await sending;
      assert.equal(new URL(gateway.requests[0].url).host, "gateway.example");
    } else {
      await assert.rejects(sending, { name: "ForeignOrigin" });
      assert.equal(gateway.requests.length, 0);
    }
  });
}

for (const status of [301, 302, 303, 307, 308]) {
  test(`a redirect (${status}) is refused and not followed`, async () => {
    const moved = new Response(null, { status, headers: { Location: "https://evil.example/" } });
    const gateway = answering(moved);
    await assert.rejects(transportTo(gateway).request("/v1/wallet", {}, "token"), { name: "GatewayError", code: "redirected", status });
    assert.equal(gateway.requests.length, 1);
  });
}

test("a redirect that a browser hides is refused, and nobody can ask to follow one or to send cookies", async () => {
  const hidden = Object.defineProperty(new Response(null), "type", { value: "opaqueredirect" });
  const gateway = answering(hidden);
  const asked = { redirect: "follow", credentials: "include", cache: "force-cache" };
  await assert.rejects(transportTo(gateway).request("/v1/wallet", asked, "token"), { code: "redirected" });
  const [{ redirect, credentials, cache }] = gateway.requests;
  assert.deepEqual([redirect, credentials, cache], ["manual", "omit", "no-store"]);
});

test("what the caller aborted fails with the reason that was given", async () => {
  const reason = new Error("the person left");
  const gateway = answering(new TypeError("network"));
  await assert.rejects(transportTo(gateway).request("/v1/wallet", { signal: AbortSignal.abort(reason) }), reason);
});

test("no answer is GatewayUnreachable, an abort stays an abort", async () => {
  const gateway = answering(new TypeError("network"), new DOMException("stop", "AbortError"));
  const transport = transportTo(gateway);
  await assert.rejects(transport.request("/v1/wallet"), { name: "GatewayUnreachable" });
  await assert.rejects(transport.request("/v1/wallet"), { name: "AbortError" });
});

test("a refused token is renewed once", async () => {
  const gateway = answering(refusal(401, "invalid_token"), { ok: true }, refusal(401, "invalid_token"), refusal(401, "invalid_token"));
  const { caller, renewed } = callerTo(gateway, ["t1", "t2", "t3"]);
  assert.deepEqual(await caller.json("/v1/wallet"), { ok: true });
  assert.deepEqual(renewed, ["t1"]);
  await assert.rejects(caller.json("/v1/wallet"), { code: "invalid_token" });
  assert.deepEqual(renewed, ["t1", "t2"]);
});

test("a call keeps its key and its limit on every retry", async () => {
  const gateway = answering(
    new TypeError("network"),
    refusal(409, "idempotency_in_progress", { "Retry-After": "0" }),
    refusal(503, "upstream_overloaded"),
    { done: true },
  );
  const { caller } = callerTo(gateway);
  const { response, idempotencyKey } = await send(caller, "/v1/chat/completions", { model: "fast" }, { maxCostMicrousd: 7 });
  assert.deepEqual(await response.json(), { done: true });
  const keys = gateway.requests.map((request) => request.headers.get("Idempotency-Key"));
  assert.deepEqual(keys, [idempotencyKey, idempotencyKey, idempotencyKey, idempotencyKey]);
  assert.equal(gateway.requests[3].headers.get("x-service-max-cost-microusd"), "7");
  assert.equal(new Set(gateway.requests.map((request) => proofOf(request).jti)).size, 4);
});

test("a call that was refused for good is not sent again", async () => {
  const gateway = answering(refusal(402, "insufficient_funds"));
  const sending = send(callerTo(gateway).caller, "/v1/x", {}, { maxCostMicrousd: 7, idempotencyKey: "mine" });
  await assert.rejects(sending, (error) => error instanceof GatewayError && error.status === 402);
  assert.equal(gateway.requests[0].headers.get("Idempotency-Key"), "mine");
});

test("a call gives up after its retries, and at once when it is aborted", async () => {
  const lost = () => new TypeError("network");
  const gateway = answering(lost(), lost());
  const options = { maxCostMicrousd: 7, retries: 1 };
  await assert.rejects(send(callerTo(gateway).caller, "/v1/x", {}, options), { name: "GatewayUnreachable" });
  const signal = AbortSignal.abort();
  const aborted = send(callerTo(answering(lost())).caller, "/v1/x", {}, { maxCostMicrousd: 7, signal });
  await assert.rejects(aborted, { name: "AbortError" });
});

test("a form goes as a form", async () => {
  const gateway = answering({});
  await send(callerTo(gateway).caller, "/v1/audio/transcriptions", new FormData(), { maxCostMicrousd: 7 });
  assert.ok(gateway.requests[0].body instanceof FormData);
  assert.equal(gateway.requests[0].headers.get("Content-Type"), null);
});

test("an answer of 200 that is not JSON is unreadable, not a crash", async () => {
  const gateway = answering(new Response("<html>"), new Response(""), new Response("{"));
  for (const _ of [1, 2, 3]) {
    await assert.rejects(transportTo(gateway).json("/v1/wallet"), { name: "GatewayError", code: "unreadable", status: 200 });
  }
});

test("an answer that is not the gateway's is unreadable, not a crash", async () => {
  const gateway = answering(new Response("<html>", { status: 502, headers: { "X-Request-Id": "req_9" } }));
  await assert.rejects(transportTo(gateway).json("/v1/wallet"), { code: "unreadable", status: 502, requestId: "req_9" });
});
