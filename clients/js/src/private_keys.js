/** Reads private keys that sign: PEM in PKCS#8 (RFC 5958) or SEC 1 (RFC 5915), and JWK (RFC 7517). */

import { bytesOf } from "./encoding.js";

/** @import {Pair} from "./signing_key.js" */
/** @typedef {{kty?: string, crv?: string, x?: string, y?: string, d?: string, kid?: string, alg?: string}} Jwk */

const P256 = { name: "ECDSA", namedCurve: "P-256" };
const ED25519 = { name: "Ed25519" };
const PEM = /-----BEGIN ((?:EC |ENCRYPTED )?PRIVATE KEY)-----([^-]+)-----END \1-----/;
const BASE64 = /^[A-Za-z0-9+/]+={0,2}$/;
// AlgorithmIdentifier of a key on P-256, and the version that stands before it.
const PKCS8_OF_P256 = [0x02, 0x01, 0x00, 0x30, 0x13, 6, 7, 42, 134, 72, 206, 61, 2, 1, 6, 8, 42, 134, 72, 206, 61, 3, 1, 7];

/**
 * Read a private key and make the pair; its private part cannot be exported. Throws TypeError for anything else.
 * @param {string | Jwk} source @returns {Promise<Pair>}
 */
export async function privatePair(source) {
  const { kty, crv, x, y, d } = typeof source === "string" ? await jwkIn(source) : (source ?? {});
  if (!d) throw new TypeError("The key is not a private key: it has no d.");
  const algorithm = algorithmOf(kty, crv);
  const open = algorithm === P256 ? { kty, crv, x, y } : { kty, crv, x };
  try {
    const privateKey = await crypto.subtle.importKey("jwk", { ...open, d }, algorithm, false, ["sign"]);
    const publicKey = await crypto.subtle.importKey("jwk", open, algorithm, true, ["verify"]);
    return { privateKey, publicKey };
  } catch {
    throw new TypeError("The key is not a valid JWK.");
  }
}

function algorithmOf(kty, crv) {
  if (kty === "EC" && crv === "P-256") return P256;
  if (kty === "OKP" && crv === "Ed25519") return ED25519;
  throw new TypeError("The key must be on P-256 (ES256) or Ed25519 (EdDSA).");
}

/** Read text: a JWK, or PEM, in which `\n` may stand for a line end, as environment variables have it. */
async function jwkIn(text) {
  if (text.trimStart().startsWith("{")) return parsed(text);
  const [, label, body] = PEM.exec(text.replaceAll("\\n", "\n")) ?? [];
  if (label === undefined) throw new TypeError("The key is neither PEM of a private key nor a JWK.");
  const inside = body.replace(/\s/g, "");
  if (label === "ENCRYPTED PRIVATE KEY" || !BASE64.test(inside)) {
    throw new TypeError("The key is encrypted or damaged; `openssl pkcs8 -topk8 -nocrypt` writes one that can be read.");
  }
  const der = bytesOf(inside);
  return jwkOf(label === "EC PRIVATE KEY" ? sequence(PKCS8_OF_P256, tagged(0x04, [...der])) : der);
}

function parsed(text) {
  try {
    return JSON.parse(text);
  } catch {
    throw new TypeError("The key is not a valid JWK.");
  }
}

/** @param {Uint8Array<ArrayBuffer>} pkcs8 @returns {Promise<Jwk>} */
async function jwkOf(pkcs8) {
  for (const algorithm of [P256, ED25519]) {
    const key = await crypto.subtle.importKey("pkcs8", pkcs8, algorithm, true, ["sign"]).catch(() => undefined);
    if (key) return crypto.subtle.exportKey("jwk", key);
  }
  throw new TypeError("The key must be on P-256 (ES256) or Ed25519 (EdDSA).");
}

function sequence(...parts) {
  return new Uint8Array(tagged(0x30, parts.flat()));
}

/** Write one DER value, of at most 255 bytes. */
function tagged(tag, content) {
  const length = content.length < 0x80 ? [content.length] : [0x81, content.length];
  return [tag, ...length, ...content];
}
