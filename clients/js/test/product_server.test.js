import assert from "node:assert/strict";
import { test } from "node:test";
import { Gateway } from "../src/gateway.js";
import { ProofKey } from "../src/keys.js";
import { ProductKey } from "../src/product_key.js";
import { ProductServer } from "../src/product_server.js";
import { sha256 } from "../src/encoding.js";
import { answering, json, oauthRefusal, read, refusal } from "./fakes.js";

const URL_OF_GATEWAY = "https://gateway.example";
const key = await ProductKey.generate();
const DID = "did:web:studio.example:alice";
const MONTH_AGO = new Date(Date.now() - 30 * 86_400_000).toUTCString();

function token(value, expiresIn = 300) {
  return { access_token: value, token_type: "DPoP", expires_in: expiresIn, scope: "wallet:read" };
}

function productOver(...answers) {
  const gateway = answering(...answers);
  const options = { url: `${URL_OF_GATEWAY}/`, issuer: "https://studio.example", product: "studio", key };
  return { product: new ProductServer({ ...options, fetch: gateway.fetch }), ...gateway };
}

function gatewayOver(...answers) {
  const { product, fetch, requests } = productOver(...answers);
  const tokens = product.tokensFor(DID, ["wallet:read"]);
  return { gateway: new Gateway({ url: URL_OF_GATEWAY, tokens, fetch }), product, requests };
}

const sentTo = (requests) => requests.map(({ url }) => new URL(url).pathname);

test("an assertion speaks for one account, for a minute, to the holder of one key", async () => {
  const { product } = productOver();
  const proofKey = await ProofKey.generate();
  const [one, two] = [await product.assertion(DID, ["infer:fast"], proofKey), await product.assertion(DID, [], proofKey, ["realtime"])];
  const { header, claims } = read(one);
  assert.deepEqual(header, { typ: "JWT", kid: key.kid, alg: "ES256" });
  const { iat, exp, jti, ...rest } = claims;
  assert.deepEqual(rest, {
    iss: "https://studio.example",
    aud: URL_OF_GATEWAY,
    product: "studio",
    sub: DID,
    capabilities: ["infer:fast"],
    cnf: { jkt: proofKey.thumbprint },
  });
  assert.ok(exp - iat === 60 && Math.abs(iat - Date.now() / 1000) <= 2 && Number.isInteger(iat));
  assert.notEqual(jti, read(two).claims.jti);
  assert.deepEqual(read(two).claims.consents, ["realtime"]);
});

test("an exchange sends the public half of the proof key alone, no cookies, and follows no redirect", async () => {
  const { gateway, requests } = gatewayOver(token("t1"), {});
  await gateway.wallet();
  const [exchange, call] = requests;
  const { assertion, dpop_jwk: jwk } = JSON.parse(exchange.body);
  assert.deepEqual(Object.keys(jwk), ["kty", "crv", "x", "y"]);
  assert.equal(read(assertion).claims.cnf.jkt, await sha256(JSON.stringify({ crv: jwk.crv, kty: jwk.kty, x: jwk.x, y: jwk.y })));
  assert.deepEqual([exchange.redirect, exchange.credentials, exchange.method], ["manual", "omit", "POST"]);
  assert.equal(call.headers.get("Authorization"), "DPoP t1");
  assert.deepEqual(read(call.headers.get("DPoP")).header.jwk, jwk);
});

test("however many ask at once, one exchange serves them, and a refused token is exchanged once", async () => {
  const wallets = (count) => Array.from({ length: count }, () => ({ ok: true }));
  const refused = Array.from({ length: 50 }, () => refusal(401, "invalid_token"));
  const { gateway, requests } = gatewayOver(token("t1"), ...wallets(50), ...refused, token("t2"), ...wallets(50));
  await Promise.all(wallets(50).map(() => gateway.wallet()));
  await Promise.all(wallets(50).map(() => gateway.wallet()));
  assert.equal(sentTo(requests).filter((path) => path.endsWith("/exchange")).length, 2);
});

test("a token is renewed half a minute before its end, and kept until then", async () => {
  const { gateway, requests } = gatewayOver(token("t1", 29), {}, token("t2", 31), {}, {});
  for (const _ of [1, 2, 3]) await gateway.wallet();
  const used = requests.map(({ headers }) => headers.get("Authorization")).filter(Boolean);
  assert.deepEqual(used, ["DPoP t1", "DPoP t2", "DPoP t2"]);
});

test("a failed exchange fails all who wait for it, and is tried anew for the next", async () => {
  const { gateway } = gatewayOver(oauthRefusal("invalid_grant"), token("t1"), { ok: 1 });
  const settled = await Promise.allSettled([gateway.wallet(), gateway.wallet(), gateway.wallet()]);
  assert.deepEqual(new Set(settled.map(({ reason }) => reason.code)), new Set(["invalid_grant"]));
  assert.deepEqual(await gateway.wallet(), { ok: 1 });
});

test("a clock that is wrong is set by the gateway's, for assertions and proofs alike", async () => {
  const late = oauthRefusal("invalid_grant", { Date: MONTH_AGO });
  const { gateway, requests } = gatewayOver(late, token("t1"), {});
  await gateway.wallet();
  const [first, second] = requests.slice(0, 2).map(({ body }) => read(JSON.parse(body).assertion).claims);
  assert.ok(Math.abs(second.iat - Date.parse(MONTH_AGO) / 1000) <= 5);
  assert.notEqual(first.jti, second.jti);
  assert.ok(Math.abs(read(requests[2].headers.get("DPoP")).claims.iat - second.iat) <= 5);
});

test("the nonce that one client of a product learns serves the others", async () => {
  const { gateway, product, requests } = gatewayOver(token("t1"), json({}, 200, { "DPoP-Nonce": "n1" }), {});
  await gateway.wallet();
  const fetch = async (url, init) => (requests.push({ url, ...init }), json({}));
  await new Gateway({ url: URL_OF_GATEWAY, tokens: product.tokensFor(DID, ["wallet:read"]), fetch }).wallet();
  assert.equal(read(requests[2].headers.get("DPoP")).claims.nonce, "n1");
});

test("the same account and capabilities have the same tokens; another account, capability or key has others", async () => {
  const { product } = productOver();
  const tokens = product.tokensFor(DID, ["wallet:read"]);
  assert.equal(product.tokensFor(DID, ["wallet:read"]), tokens);
  const proofKey = await ProofKey.generate();
  const others = [
    product.tokensFor(`${DID}2`, ["wallet:read"]),
    product.tokensFor(DID, ["infer:fast"]),
    product.tokensFor(DID, ["wallet:read"], { consents: ["realtime"] }),
    product.tokensFor(DID, ["wallet:read"], { proofKey }),
  ];
  assert.ok(others.every((other) => other !== tokens));
  assert.equal(await others[3].proofKey(), proofKey);
  for (let index = 0; index < 1000; index += 1) product.tokensFor(`${DID}${index}`, []);
  assert.notEqual(product.tokensFor(DID, ["wallet:read"]), tokens, "the thousand that were used last are kept");
});

const GARBAGE = {
  "no answer": [new TypeError("network"), { name: "GatewayUnreachable" }],
  "a page": [new Response("<html>"), { name: "GatewayError", code: "unreadable" }],
  "an empty object": [{}, { name: "GatewayError", code: "unreadable" }],
  null: [new Response("null"), { name: "GatewayError", code: "unreadable" }],
  "a token that is none": [{ access_token: { toString: "x" }, expires_in: 300 }, { code: "unreadable" }],
  "no time": [{ access_token: "t1", expires_in: "soon" }, { code: "unreadable" }],
  "a redirect": [new Response(null, { status: 307, headers: { Location: "https://evil.example/" } }), { code: "redirected" }],
  "a refusal without a body": [new Response(null, { status: 500 }), { code: "unreadable", status: 500 }],
};
for (const [what, [answer, expected]] of Object.entries(GARBAGE)) {
  test(`an exchange that is answered with ${what} is an error of ours`, async () => {
    const { gateway, requests } = gatewayOver(answer);
    await assert.rejects(gateway.wallet(), expected);
    assert.equal(requests.length, 1);
  });
}

const never = (signal) => new Promise((resolve, reject) => signal.addEventListener("abort", () => reject(signal.reason)));
const halfAnAnswer = (signal) => new Response(new ReadableStream({ pull: () => never(signal) }));
for (const [what, answer] of Object.entries({ "no answer": never, "half an answer": halfAnAnswer })) {
  test(`an exchange that has ${what} in time is an error of ours`, async () => {
    const fetch = async (url, { signal }) => answer(signal);
    const alive = setTimeout(() => undefined, 10_000);
    const product = new ProductServer({ url: URL_OF_GATEWAY, issuer: "i", product: "p", key, timeoutSeconds: 0.01, fetch });
    await assert.rejects(product.tokensFor(DID, []).token(), { name: "GatewayUnreachable" });
    await assert.rejects(product.exchange("a.b.c", await ProofKey.generate()), { name: "GatewayUnreachable" });
    clearTimeout(alive);
  });
}
