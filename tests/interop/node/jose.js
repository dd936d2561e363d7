/** The account key as `jose` from npm opens it: for another key on each curve, and for the key of the proofs. */

import { compactDecrypt, exportJWK, generateKeyPair, importJWK } from "jose";
import { Caller } from "../../../clients/js/src/caller.js";
import { ProofKey } from "../../../clients/js/src/keys.js";
import { postJson } from "../../../clients/js/src/session.js";
import { Transport } from "../../../clients/js/src/transport.js";
import { done } from "./say.js";

const ALGORITHM = "ECDH-ES+A256KW";
const PATH = "/v1/sync/account-key";
const [baseUrl, assertion] = process.argv.slice(2);

const signing = { name: "ECDSA", namedCurve: "P-256" };
const pair = await crypto.subtle.generateKey(signing, true, ["sign", "verify"]);
const proof = await ProofKey.of(pair);
const transport = new Transport({ baseUrl, key: async () => proof });
const grant = await transport.json("/v1/auth/token/exchange", postJson({ assertion, dpop_jwk: proof.jwk }));
const caller = new Caller(transport, { token: async () => grant.access_token, renew: async () => grant.access_token });

async function opened(answer, privateKey) {
  const { plaintext, protectedHeader } = await compactDecrypt(answer.jwe, privateKey);
  return { kid: answer.kid, key: Buffer.from(plaintext).toString("hex"), header: protectedHeader };
}

const found = {};
for (const crv of ["P-256", "X25519"]) {
  const { publicKey, privateKey } = await generateKeyPair(ALGORITHM, { crv, extractable: true });
  found[crv] = await opened(await caller.json(PATH, postJson({ public_jwk: await exportJWK(publicKey) })), privateKey);
}
const { d } = await crypto.subtle.exportKey("jwk", pair.privateKey);
found.proof = await opened(await caller.json(PATH, { method: "POST" }), await importJWK({ ...proof.jwk, d }, ALGORITHM));
done({ ...found, thumbprint: proof.thumbprint });
