import assert from "node:assert/strict";
import { test } from "node:test";
import { base64url, randomText, sha256 } from "../src/encoding.js";
import { ProofKey } from "../src/keys.js";
import { newPkce } from "../src/pkce.js";
import { dpopProof, targetOf } from "../src/proof.js";
import { MemoryStore, read } from "./fakes.js";

test("base64url has no padding and no characters that need escaping", () => {
  assert.equal(base64url(new Uint8Array([251, 255, 190, 0])), "-_--AA");
  assert.equal(base64url(new Uint8Array(0)), "");
});

test("the challenge is the S256 of the verifier (RFC 7636 appendix B)", async () => {
  assert.equal(await sha256("dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"), "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM");
  const { verifier, challenge } = await newPkce();
  assert.match(verifier, /^[A-Za-z0-9_-]{43}$/);
  assert.equal(challenge, await sha256(verifier));
});

test("random texts differ", () => {
  assert.equal(new Set(Array.from({ length: 100 }, randomText)).size, 100);
});

test("the thumbprint is that of RFC 7638", async () => {
  const { jwk, thumbprint } = await ProofKey.generate();
  assert.deepEqual(Object.keys(jwk), ["kty", "crv", "x", "y"]);
  assert.equal(thumbprint, await sha256(`{"crv":"P-256","kty":"EC","x":"${jwk.x}","y":"${jwk.y}"}`));
});

test("a private key cannot be exported", async () => {
  const { pair } = await ProofKey.generate();
  assert.equal(pair.privateKey.extractable, false);
  await assert.rejects(crypto.subtle.exportKey("jwk", pair.privateKey));
});

test("whoever asks for the kept key at once gets the same one", async () => {
  const store = new MemoryStore();
  const keys = await Promise.all([1, 2, 3].map(() => ProofKey.kept(store)));
  assert.equal(new Set(keys.map((key) => key.thumbprint)).size, 1);
  assert.equal((await ProofKey.kept(store)).thumbprint, keys[0].thumbprint);
});

test("a proof carries the claims of RFC 9449 and verifies by its own key", async () => {
  const key = await ProofKey.generate();
  const url = "https://gateway.example/v1/usage?limit=2#top";
  const proof = await dpopProof(key, { method: "get", url, now: 1790000000.9, accessToken: "token", nonce: "n1" });
  const { header, claims } = read(proof);
  assert.deepEqual(header, { typ: "dpop+jwt", alg: "ES256", jwk: key.jwk });
  const { jti, ...rest } = claims;
  assert.match(jti, /^[A-Za-z0-9_-]{43}$/);
  const expected = { htm: "GET", htu: "https://gateway.example/v1/usage", iat: 1790000000, nonce: "n1" };
  assert.deepEqual(rest, { ...expected, ath: await sha256("token") });
  const [head, body, signature] = proof.split(".");
  const verify = [{ name: "ECDSA", hash: "SHA-256" }, key.pair.publicKey, Buffer.from(signature, "base64url")];
  assert.ok(await crypto.subtle.verify(...verify, Buffer.from(`${head}.${body}`)));
});

test("a proof without a token has neither ath nor nonce", async () => {
  const proof = await dpopProof(await ProofKey.generate(), { method: "POST", url: "https://g.example/x", now: 1 });
  assert.deepEqual(Object.keys(read(proof).claims).sort(), ["htm", "htu", "iat", "jti"]);
});

test("a target keeps its path as it is written", () => {
  assert.equal(targetOf("https://g.example/v1/models/vendor%2Flarge?a=1"), "https://g.example/v1/models/vendor%2Flarge");
});
