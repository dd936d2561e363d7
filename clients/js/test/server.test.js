/** The client where there is no page: in this process, as in any server or worker. */

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { test } from "node:test";
import { CachedTokens } from "../src/cached_tokens.js";
import { Gateway } from "../src/gateway.js";
import { ProofKey } from "../src/keys.js";
import { exclusively } from "../src/locks.js";
import { MemoryStore } from "../src/memory_store.js";
import { answering, oauthRefusal, read } from "./fakes.js";

const URL_OF_GATEWAY = "https://gateway.example";
const CALLED_BACK = "http://127.0.0.1:7777/callback";
const GRANT = { access_token: "a1", expires_in: 300, scope: "wallet:read", refresh_token: "r1", device_session: { id: "dev_1" } };

function signingIn(options, ...answers) {
  const { fetch, requests } = answering(...answers);
  const where = { url: URL_OF_GATEWAY, clientId: "http://127.0.0.1:7777", redirectUri: CALLED_BACK };
  return { gateway: new Gateway({ ...where, fetch, ...options }), requests };
}

function answerTo(address, parameters = {}) {
  const state = new URL(address).searchParams.get("state");
  return `${CALLED_BACK}?${new URLSearchParams({ code: "c1", state, iss: URL_OF_GATEWAY, ...parameters })}`;
}

test("where there is no page, it says what to give", () => {
  assert.throws(() => new Gateway({ url: URL_OF_GATEWAY }), { name: "TypeError", message: /give tokens/ });
});

test("a gateway that was given tokens signs nobody in", async () => {
  const key = await ProofKey.generate();
  const tokens = { proofKey: async () => key, token: async () => "t1", renew: async () => "t2" };
  const { gateway, requests } = signingIn({ tokens }, { ok: true });
  assert.deepEqual(await gateway.wallet(), { ok: true });
  assert.equal(requests[0].headers.get("Authorization"), "DPoP t1");
  for (const act of [() => gateway.beginSignIn({ scopes: [] }), () => gateway.isSignedIn(), () => gateway.completeSignIn(CALLED_BACK)]) {
    await assert.rejects(act, { name: "TypeError" });
  }
});

test("a program that is called back signs a person in, and stays signed in by its store", async () => {
  const store = new MemoryStore();
  const { gateway, requests } = signingIn({ store }, GRANT, { ok: 1 });
  const address = await gateway.beginSignIn({ scopes: ["wallet:read"], deviceName: "Tool", returnTo: "/next" });
  assert.equal(new URL(address).searchParams.get("redirect_uri"), CALLED_BACK);
  assert.equal(await gateway.completeSignIn("http://127.0.0.1:7777/other"), null);
  assert.deepEqual(await gateway.completeSignIn(answerTo(address)), { scope: "wallet:read", returnTo: "/next" });
  const { dpop_jwk: jwk, ...sent } = JSON.parse(requests[0].body);
  assert.equal(sent.device_name, "Tool");
  assert.deepEqual(await gateway.wallet(), { ok: 1 });
  const later = signingIn({ store }, { ok: 2 });
  assert.deepEqual(await later.gateway.wallet(), { ok: 2 });
  assert.deepEqual(read(later.requests[0].headers.get("DPoP")).header.jwk, jwk);
});

test("an answer serves once, whoever brings it at the same time, and only where it was asked for", async () => {
  const store = new MemoryStore();
  const { gateway, requests } = signingIn({ store }, GRANT);
  const address = await gateway.beginSignIn({ scopes: ["wallet:read"] });
  const settled = await Promise.allSettled([1, 2, 3].map(() => gateway.completeSignIn(answerTo(address))));
  assert.deepEqual(settled.map(({ status }) => status).sort(), ["fulfilled", "rejected", "rejected"]);
  assert.equal(requests.length, 1);
  await gateway.beginSignIn({ scopes: [] });
  await assert.rejects(gateway.completeSignIn(answerTo(address)), { code: "state_mismatch" });
});

test("with a proof key of the program's own, a store keeps JSON", async () => {
  const kept = new Map();
  const store = {
    scope: "alice",
    read: async (name) => kept.has(name) ? JSON.parse(kept.get(name)) : undefined,
    write: async (name, value) => void kept.set(name, JSON.stringify(value)),
    settle: async () => assert.fail("no key is kept"),
    remove: async (...names) => names.forEach((name) => kept.delete(name)),
  };
  const proofKey = await ProofKey.generate();
  const { gateway } = signingIn({ store, proofKey }, { ...GRANT, expires_in: 5 });
  await gateway.completeSignIn(answerTo(await gateway.beginSignIn({ scopes: ["wallet:read"] })));
  const later = signingIn({ store, proofKey }, { ...GRANT, access_token: "a2", refresh_token: "r2" }, { ok: 1 }, oauthRefusal("invalid_grant"));
  assert.deepEqual(await later.gateway.wallet(), { ok: 1 });
  assert.equal(JSON.parse(kept.get("session")).refreshToken, "r2");
  await assert.rejects(later.gateway.refresh(), { name: "SignedOut" });
  assert.equal(kept.size, 0);
});

test("what is kept in memory is one person's, and the first key stays", async () => {
  const [one, two] = [new MemoryStore(), new MemoryStore()];
  const keys = await Promise.all([ProofKey.kept(one), ProofKey.kept(one), ProofKey.kept(two)]);
  assert.equal(new Set(keys.map(({ thumbprint }) => thumbprint)).size, 2);
  assert.notEqual(one.scope, two.scope);
});

test("turns are taken one after another, also after one that failed", async () => {
  const order = [];
  const turn = (name, error) => exclusively("lock", async () => (await null, order.push(name), error && Promise.reject(error)));
  const turns = [turn("a", new Error("x")), turn("b"), turn("c")];
  assert.deepEqual((await Promise.allSettled(turns)).map(({ status }) => status), ["rejected", "fulfilled", "fulfilled"]);
  assert.deepEqual(order, ["a", "b", "c"]);
});

test("a fetch of tokens that throws at once is tried anew", async () => {
  let calls = 0;
  const tokens = new CachedTokens(() => {
    if ((calls += 1) === 1) throw new Error("not yet");
    return Promise.resolve({ value: "t1", expiresInSeconds: 300 });
  });
  await assert.rejects(tokens.token(), { message: "not yet" });
  assert.equal(await tokens.token(), "t1");
});

/** Run a program with the client to its end. */
function program(code) {
  const imports = `import { Gateway, ProductKey, ProductServer } from ${JSON.stringify(new URL("../src/index.js", import.meta.url).href)};
    const key = await ProductKey.generate();
    let asked = 0;
    const json = (body, status = 200) => new Response(JSON.stringify(body), { status });
    const product = (fetch) => new ProductServer({ url: "https://g.example", issuer: "i", product: "p", key, fetch });`;
  return spawnSync(process.execPath, ["--expose-gc", "--input-type=module", "-e", imports + code], { encoding: "utf8", timeout: 300_000 });
}

test("a program ends by itself, and its output has nothing of the client's", () => {
  const { status, stdout, stderr } = program(`
    const fetch = async (url) => json(url.endsWith("exchange") ? { access_token: "t", expires_in: 300 } : { ok: true });
    const gateway = new Gateway({ url: "https://g.example", tokens: product(fetch).tokensFor("did:web:a", []), fetch });
    console.log(JSON.stringify(await gateway.wallet()));
    const other = new Gateway({ url: "https://g.example", clientId: "http://127.0.0.1:1", redirectUri: "http://127.0.0.1:1/", fetch });
    console.log(await other.isSignedIn());`);
  assert.deepEqual([status, stdout, stderr], [0, '{"ok":true}\nfalse\n', ""]);
});

test("an exchange that fails while nobody waits any longer is no unhandled rejection", () => {
  const { status, stderr } = program(`
    const fetch = () => new Promise((resolve, reject) => setTimeout(() => reject(new TypeError("network")), 20));
    const tokens = product(fetch).tokensFor("did:web:a", []);
    const gateway = new Gateway({ url: "https://g.example", tokens, fetch });
    await Promise.race([Promise.allSettled([gateway.wallet(), tokens.token()]), new Promise((resolve) => setTimeout(resolve, 5))]);
    await new Promise((resolve) => setTimeout(resolve, 100));`);
  assert.deepEqual([status, stderr], [0, ""]);
});

test("a thousand calls leave nothing behind", () => {
  const { status, stdout, stderr } = program(`
    const metered = { "x-service-usage-id": "use_1", "Content-Type": "text/event-stream" };
    const answer = "data: {}\\n\\ndata: [DONE]\\n\\n: service {\\"charge_microusd\\":9}\\n\\n" + " ".repeat(10_000);
    const fetch = async (url) => {
      if (url.endsWith("exchange")) return json({ access_token: "t", expires_in: 300 });
      return (asked += 1) % 3 ? new Response(answer, { headers: metered }) : json({ error: { code: "upstream_error" } }, 502);
    };
    const gateway = new Gateway({ url: "https://g.example", tokens: product(fetch).tokensFor("did:web:a", []), fetch });
    const sdk = gateway.sdkFetch({ maxCostMicrousd: 9, onReceipt: () => undefined });
    const call = async (n) => (await sdk("https://g.example/v1/x", { method: "POST", body: String(n) })).text();
    const used = () => (gc(), gc(), process.memoryUsage().heapUsed);
    for (let n = 0; n < 200; n += 1) await call(n);
    const before = used();
    for (let n = 0; n < 1000; n += 1) await call(n);
    console.log(used() - before);`);
  assert.equal(stderr, "");
  assert.equal(status, 0);
  assert.ok(Number(stdout) < 3_000_000, stdout);
});
