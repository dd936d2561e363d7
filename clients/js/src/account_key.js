/** The account's key, which comes encrypted to a key that is made for this one answer. RFC 7516, RFC 7518 section 4.6. */

import { bytesOf } from "./encoding.js";
import { postJson } from "./session.js";

const CURVE = { name: "ECDH", namedCurve: "P-256" };
const KEY_BITS = 256;
const ALGORITHM = "ECDH-ES+A256KW";
const ENCRYPTION = "A256GCM";

/**
 * Ask for the account's key.
 * @param {import("./caller.js").Caller} caller @returns {Promise<{kid: string, key: Uint8Array}>}
 */
export async function accountKey(caller) {
  const pair = await crypto.subtle.generateKey(CURVE, false, ["deriveBits"]);
  const { kty, crv, x, y } = await crypto.subtle.exportKey("jwk", pair.publicKey);
  const answer = await caller.json("/v1/sync/account-key", postJson({ public_jwk: { kty, crv, x, y } }));
  return { kid: answer.kid, key: await open(answer.jwe, pair.privateKey) };
}

async function open(jwe, privateKey) {
  const [header, ...parts] = jwe.split(".");
  const [encryptedKey, iv, ciphertext, tag] = parts.map(bytesOf);
  const { alg, enc, epk } = JSON.parse(new TextDecoder().decode(bytesOf(header)));
  if (alg !== ALGORITHM || enc !== ENCRYPTION) throw new TypeError(`The account key is encrypted with ${alg} and ${enc}.`);
  const wrapping = await wrappingKey(epk, privateKey);
  const algorithm = { name: "AES-GCM" };
  const contentKey = await crypto.subtle.unwrapKey("raw", encryptedKey, wrapping, "AES-KW", algorithm, false, ["decrypt"]);
  const bound = { ...algorithm, iv, additionalData: new TextEncoder().encode(header) };
  return new Uint8Array(await crypto.subtle.decrypt(bound, contentKey, joined(ciphertext, tag)));
}

/** Agree on a key: one round of Concat KDF with SHA-256. RFC 7518 section 4.6.2. */
async function wrappingKey(epk, privateKey) {
  const theirs = await crypto.subtle.importKey("jwk", epk, CURVE, false, []);
  const agreed = new Uint8Array(await crypto.subtle.deriveBits({ name: "ECDH", public: theirs }, privateKey, KEY_BITS));
  const nobody = uint32(0);
  const other = joined(uint32(ALGORITHM.length), new TextEncoder().encode(ALGORITHM), nobody, nobody, uint32(KEY_BITS));
  const key = await crypto.subtle.digest("SHA-256", joined(uint32(1), agreed, other));
  return crypto.subtle.importKey("raw", key, "AES-KW", false, ["unwrapKey"]);
}

function uint32(value) {
  const bytes = new Uint8Array(4);
  new DataView(bytes.buffer).setUint32(0, value);
  return bytes;
}

function joined(...parts) {
  return new Uint8Array(parts.flatMap((part) => [...part]));
}
