/** Key pairs that sign: ES256 on P-256, and EdDSA on Ed25519. RFC 7518 section 3.4, RFC 8037 section 3.1. */

import { base64url, base64urlJson, sha256 } from "./encoding.js";

/** @typedef {"ES256" | "EdDSA"} Algorithm */
/** @typedef {{kty: string, crv: string, x: string, y?: string}} PublicJwk */
/** @typedef {Awaited<ReturnType<typeof crypto.subtle.importKey>>} Key a CryptoKey, whose name Node.js' own types lack */
/** @typedef {{privateKey: Key, publicKey: Key}} Pair */

const PAIRS = { ES256: { name: "ECDSA", namedCurve: "P-256" }, EdDSA: { name: "Ed25519" } };
const SIGNATURES = { ES256: { name: "ECDSA", hash: "SHA-256" }, EdDSA: { name: "Ed25519" } };

export class SigningKey {
  /**
   * @param {Pair} pair
   * @param {PublicJwk} jwk the public part
   * @param {string} thumbprint
   */
  constructor(pair, jwk, thumbprint) {
    /** @readonly */
    this.pair = pair;
    /** @readonly */
    this.jwk = jwk;
    /**
     * RFC 7638.
     * @readonly
     */
    this.thumbprint = thumbprint;
    /**
     * @type {Algorithm}
     * @readonly
     */
    this.algorithm = jwk.kty === "OKP" ? "EdDSA" : "ES256";
  }

  /**
   * Sign ASCII text; the signature in base64url, as JWS has it.
   * @param {string} text @returns {Promise<string>}
   */
  async sign(text) {
    const bytes = new TextEncoder().encode(text);
    return base64url(await crypto.subtle.sign(SIGNATURES[this.algorithm], this.pair.privateKey, bytes));
  }

  /**
   * Sign claims as a compact JWS; `alg` is the key's.
   * @param {object} header @param {object} claims @returns {Promise<string>}
   */
  async signJwt(header, claims) {
    const signed = `${base64urlJson({ ...header, alg: this.algorithm })}.${base64urlJson(claims)}`;
    return `${signed}.${await this.sign(signed)}`;
  }
}

/**
 * Make a pair; where it is not extractable, nobody can read its private part, not even this program.
 * @param {Algorithm} algorithm @param {boolean} extractable @returns {Promise<Pair>}
 */
export async function newPair(algorithm, extractable) {
  const made = await crypto.subtle.generateKey(PAIRS[algorithm], extractable, ["sign", "verify"]);
  return /** @type {Pair} */ (made);
}

/**
 * Describe a pair: with it, its public part and thumbprint.
 * @param {Pair} pair @returns {Promise<[Pair, PublicJwk, string]>}
 */
export async function described(pair) {
  const { kty, crv, x, y } = /** @type {PublicJwk} */ (await crypto.subtle.exportKey("jwk", pair.publicKey));
  const jwk = y === undefined ? { kty, crv, x } : { kty, crv, x, y };
  return [pair, jwk, await thumbprintOf(jwk)];
}

/** Hash the required members in their order. RFC 7638 section 3. @param {PublicJwk} jwk */
function thumbprintOf(jwk) {
  return sha256(JSON.stringify(Object.fromEntries(Object.entries(jwk).sort())));
}
