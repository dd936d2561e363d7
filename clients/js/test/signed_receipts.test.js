import assert from "node:assert/strict";
import { test } from "node:test";
import { base64urlJson } from "../src/encoding.js";
import { InvalidReceipt } from "../src/errors.js";
import { ProofKey } from "../src/keys.js";
import { fetchReceiptKeys, verifyReceipt } from "../src/signed_receipts.js";
import { accountOver, answering } from "./fakes.js";

const issuer = "https://g.example";
const key = await ProofKey.generate();
const jwk = { ...key.jwk, kid: "k1", alg: "ES256", use: "sig" };
const keys = { keys: [jwk] };
const HEADER = { typ: "receipt+jwt", alg: "ES256", kid: "k1" };
const CLAIMS = {
  iss: issuer,
  sub: "did:web:studio.example:alice",
  jti: "use_1",
  hold_microusd: 1000,
  charge_microusd: 1000,
  components: [
    component("input_token", 493, "2.50", "1232.500000"),
    component("output_token", 3, "0.000001", "0.000003"),
    component("cap", null, null, "-232.500003"),
  ],
};

function component(name, quantity, unitPriceMicrousd, amountMicrousd) {
  return { component: name, quantity, unitPriceMicrousd, amountMicrousd };
}

async function signed(claims = {}, header = {}, by = key) {
  const text = `${base64urlJson({ ...HEADER, ...header })}.${base64urlJson({ ...CLAIMS, ...claims })}`;
  return `${text}.${await by.sign(text)}`;
}

async function refused(receipt, reason, given = keys) {
  await assert.rejects(verifyReceipt(await receipt, given, { issuer }), (error) => {
    assert.ok(error instanceof InvalidReceipt, String(error));
    assert.match(error.message, reason);
    return true;
  });
}

test("a receipt gives its claims", async () => {
  assert.deepEqual(await verifyReceipt(await signed(), keys, { issuer }), CLAIMS);
  assert.deepEqual(await verifyReceipt(await signed(), keys, { issuer: `${issuer}/` }), CLAIMS);
});

test("the sum is exact and rounded up", async () => {
  for (const [charge, ...amounts] of [[0], [1, "0.000001"], [1, "0.5", "0.5"], [2, "0.500000", "0.500001"], [0, "-0.999999"]]) {
    const claims = { charge_microusd: charge, components: amounts.map((amount) => component("image", 1, null, amount)) };
    assert.equal((await verifyReceipt(await signed(claims), keys, { issuer })).charge_microusd, charge);
    await refused(signed({ ...claims, charge_microusd: charge + 1 }), /do not come to the charge/);
  }
});

test("claims that do not hold are refused", async () => {
  await refused(signed({ charge_microusd: 999 }), /do not come to the charge of 999/);
  await refused(signed({ hold_microusd: 999 }), /not within the hold of 999/);
  await refused(signed({ charge_microusd: "1000" }), /lacks an amount/);
  await refused(signed({ charge_microusd: 0.5 }), /lacks an amount/);
  await refused(signed({ components: null }), /lacks an amount/);
  await refused(signed({ components: [null] }), /undefined is not an exact amount/);
  await refused(signed({ components: [component("image", 2, "500", "999.000000")] }), /the amount of image is not/);
  await refused(signed({ components: [component("image", null, "1000", "1000.000000")] }), /the amount of image is not/);
  await refused(signed({ components: [component("image", 1, "1e3", "1000.000000")] }), /1e3 is not an exact amount/);
  await refused(signed({ components: [component("image", 1, null, 1000)] }), /1000 is not an exact amount/);
  await refused(signed({ iss: "https://other.example" }), /issued by https:\/\/other.example, not by/);
});

test("another kind of token is refused", async () => {
  await refused(signed({}, { typ: "at+jwt" }), /type is not/);
  await refused(signed({}, { alg: "none" }), /not signed with ES256/);
  await refused(signed({}, { alg: "HS256" }), /not signed with ES256/);
  await refused(signed({}, { crit: ["b64"] }), /not signed with ES256/);
  await refused(signed({}, { kid: "another" }), /key another is not among/);
  await refused(signed({}, { kid: undefined }), /key undefined is not among/);
});

test("what is changed or signed by somebody else is refused", async () => {
  const [header, claims, signature] = (await signed()).split(".");
  const cheaper = base64urlJson({ ...CLAIMS, charge_microusd: 1 });
  await refused(`${header}.${cheaper}.${signature}`, /does not verify/);
  await refused(signed({}, {}, await ProofKey.generate()), /does not verify/);
  await refused(`${header}.${claims}.${signature.slice(0, -4)}`, /does not verify/);
  await refused(`${header}.${claims}.`, /not base64url/);
  await refused(`${header}.${claims}`, /not a compact JWS/);
  await refused(`${base64urlJson([])}.${claims}.${signature}`, /not made of JSON objects/);
  await refused(`AAAA.${claims}.${signature}`, /not made of JSON objects/);
});

test("keys for something else are refused", async () => {
  await refused(signed(), /not one for ES256/, { keys: [{ ...jwk, kty: "RSA" }] });
  await refused(signed(), /not one for ES256/, { keys: [{ ...jwk, alg: "HS256" }] });
  await refused(signed(), /not a point on P-256/, { keys: [{ ...jwk, x: "A".repeat(43) }] });
  await refused(signed(), /not among the keys/, { keys: [] });
  for (const set of [{}, { keys: {} }, { keys: [null] }]) await refused(signed(), /not among the keys/, set);
});

test("keys are fetched without a token where they are not given", async () => {
  const { account, gateway } = accountOver(keys);
  assert.deepEqual(await account.verifyReceipt(await signed()), CLAIMS);
  assert.deepEqual(await account.verifyReceipt(await signed(), keys), CLAIMS);
  assert.equal(gateway.requests.length, 1);
  const [{ url, headers }] = gateway.requests;
  assert.equal(url, `${issuer}/.well-known/receipt-keys.json`);
  assert.equal(headers.get("Authorization") ?? headers.get("DPoP"), null);
  assert.deepEqual(await fetchReceiptKeys(`${issuer}/`, answering(keys).fetch), keys);
});

test("a usage record and its receipt are fetched by their id", async () => {
  const { account, gateway } = accountOver({ usageId: "use_1" }, { receipt: "a.b.c" });
  assert.deepEqual(await account.usageRecord("use_1"), { usageId: "use_1" });
  assert.equal(await account.receipt("use/1"), "a.b.c");
  assert.deepEqual(gateway.requests.map(({ url }) => url), [`${issuer}/v1/usage/use_1`, `${issuer}/v1/usage/use%2F1/receipt`]);
});
