/** The proof key: ES256, made by WebCrypto so that nobody, not even this page, can read its private part. */

import { base64url, sha256 } from "./encoding.js";

const ALGORITHM = { name: "ECDSA", namedCurve: "P-256" };
const SIGNATURE = { name: "ECDSA", hash: "SHA-256" };

/** The name of the key's record. */
export const KEY_RECORD = "key";

export class ProofKey {
  /**
   * @param {CryptoKeyPair} pair
   * @param {{kty: string, crv: string, x: string, y: string}} jwk the public part
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
  }

  /**
   * Make a key that can sign and cannot be exported.
   * @returns {Promise<ProofKey>}
   */
  static async generate() {
    return ProofKey.of(await crypto.subtle.generateKey(ALGORITHM, false, ["sign", "verify"]));
  }

  /**
   * Take a pair as WebCrypto or IndexedDB gives it.
   * @param {CryptoKeyPair} pair @returns {Promise<ProofKey>}
   */
  static async of(pair) {
    const { x, y } = /** @type {{x: string, y: string}} */ (await crypto.subtle.exportKey("jwk", pair.publicKey));
    const jwk = { kty: "EC", crv: "P-256", x, y };
    return new ProofKey(pair, jwk, await thumbprintOf(jwk));
  }

  /**
   * Find the key that this browser keeps, making it where there is none; tabs that ask at once get the same one.
   * @param {import("./store.js").Store} store @returns {Promise<ProofKey>}
   */
  static async kept(store) {
    const found = (await store.read(KEY_RECORD)) ?? (await store.settle(KEY_RECORD, await ProofKey.generate()));
    return new ProofKey(found.pair, found.jwk, found.thumbprint);
  }

  /**
   * Sign ASCII text; the signature in base64url, as JWS has it (RFC 7518 section 3.4).
   * @param {string} text @returns {Promise<string>}
   */
  async sign(text) {
    return base64url(await crypto.subtle.sign(SIGNATURE, this.pair.privateKey, new TextEncoder().encode(text)));
  }
}

/** Hash the required members in their order. RFC 7638 section 3. */
function thumbprintOf({ crv, kty, x, y }) {
  return sha256(JSON.stringify({ crv, kty, x, y }));
}
