import assert from "node:assert/strict";
import { generateKeyPairSync } from "node:crypto";
import { test } from "node:test";
import { ProofKey } from "../src/keys.js";
import { ProductKey } from "../src/product_key.js";

const PAIRS = {
  ES256: generateKeyPairSync("ec", { namedCurve: "P-256" }),
  EdDSA: generateKeyPairSync("ed25519"),
};
const pkcs8 = (pair) => pair.privateKey.export({ type: "pkcs8", format: "pem" });
const VERIFY = { ES256: { name: "ECDSA", hash: "SHA-256" }, EdDSA: { name: "Ed25519" } };

async function verifies(key) {
  const [header, claims, signature] = (await key.signJwt({ typ: "JWT" }, { sub: "é" })).split(".");
  assert.equal(JSON.parse(Buffer.from(header, "base64url")).alg, key.algorithm);
  const bytes = Buffer.from(signature, "base64url");
  return crypto.subtle.verify(VERIFY[key.algorithm], key.pair.publicKey, bytes, Buffer.from(`${header}.${claims}`));
}

for (const [algorithm, pair] of Object.entries(PAIRS)) {
  const jwk = pair.privateKey.export({ format: "jwk" });
  const FORMS = {
    PEM: pkcs8(pair),
    "PEM with \\n as an environment variable has it": pkcs8(pair).replaceAll("\n", "\\n"),
    "PEM with CRLF and text around it": `Key of studio\r\n${pkcs8(pair).replaceAll("\n", "\r\n")}\r\n`,
    "a JWK": { ...jwk, use: "sig", key_ops: ["sign"], kid: "k1", alg: algorithm },
    "a JWK as text": ` ${JSON.stringify(jwk)}`,
    ...(algorithm === "ES256" && { "SEC 1": pair.privateKey.export({ type: "sec1", format: "pem" }) }),
  };
  for (const [form, source] of Object.entries(FORMS)) {
    test(`${algorithm} is read from ${form}, signs, and gives nothing private away`, async () => {
      const key = await ProductKey.from(source);
      assert.equal(key.algorithm, algorithm);
      assert.ok(await verifies(key));
      const { d, ...open } = jwk;
      assert.deepEqual(key.publicJwks(), { keys: [{ ...open, kid: key.thumbprint, use: "sig", alg: algorithm }] });
      assert.ok(!JSON.stringify(key).includes(d));
      await assert.rejects(key.toPem());
    });
  }

  test(`a new ${algorithm} key is written as PEM and read again`, async () => {
    const made = await ProductKey.generate({ algorithm });
    const again = await ProductKey.from(await made.toPem());
    assert.deepEqual([again.kid, again.algorithm], [made.kid, algorithm]);
  });

  test(`a proof key may be kept as PEM (${algorithm})`, async () => {
    const proofKey = await ProofKey.from(pkcs8(pair));
    assert.ok(proofKey instanceof ProofKey && (await verifies(proofKey)));
  });
}

const { d, ...open } = PAIRS.ES256.privateKey.export({ format: "jwk" });
const REFUSED = {
  "a public JWK": open,
  "public PEM": PAIRS.ES256.publicKey.export({ type: "spki", format: "pem" }),
  "an encrypted key": PAIRS.ES256.privateKey.export({ type: "pkcs8", format: "pem", cipher: "aes-256-cbc", passphrase: "x" }),
  "a key on another curve": pkcs8(generateKeyPairSync("ec", { namedCurve: "P-384" })),
  "a JWK on another curve": generateKeyPairSync("ec", { namedCurve: "secp256k1" }).privateKey.export({ format: "jwk" }),
  "SEC 1 on another curve": generateKeyPairSync("ec", { namedCurve: "P-384" }).privateKey.export({ type: "sec1", format: "pem" }),
  "an RSA key": pkcs8(generateKeyPairSync("rsa", { modulusLength: 2048 })),
  "X25519": pkcs8(generateKeyPairSync("x25519")),
  "a key of other parts": { ...open, d, x: open.y },
  "half a key": pkcs8(PAIRS.ES256).replace(/\n.*\n-----END/, "\n-----END"),
  "no key": "",
  "a path": "product.pem",
  "half a JWK": `{"kty": "EC"`,
  "a JWK of nothing": {},
  nothing: undefined,
};
for (const [what, source] of Object.entries(REFUSED)) {
  test(`${what} is refused, and the error does not tell it`, async () => {
    await assert.rejects(ProductKey.from(source), (error) => {
      assert.equal(error.name, "TypeError");
      assert.match(error.message, /^The key .*\.$/);
      assert.ok(!error.message.includes(d));
      return true;
    });
  });
}
