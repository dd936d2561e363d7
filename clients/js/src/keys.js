/** The proof key, made by WebCrypto so that nobody, not even this program, can read its private part. */

import { privatePair } from "./private_keys.js";
import { described, newPair, SigningKey } from "./signing_key.js";

/** @import {Jwk} from "./private_keys.js" */
/** @import {Pair} from "./signing_key.js" */

/** The name of the key's record. */
export const KEY_RECORD = "key";

/** The key that tokens are bound to; it signs a proof for each request. */
export class ProofKey extends SigningKey {
  /**
   * Make a key that can sign and cannot be exported.
   * @returns {Promise<ProofKey>}
   */
  static async generate() {
    return ProofKey.of(await newPair("ES256", false));
  }

  /**
   * Take a pair as WebCrypto or IndexedDB gives it.
   * @param {Pair} pair @returns {Promise<ProofKey>}
   */
  static async of(pair) {
    return new ProofKey(...(await described(pair)));
  }

  /**
   * Read a private key, P-256 or Ed25519: PEM (PKCS#8 or SEC 1), or a JWK as an object or text. It cannot be exported
   * again. Throws TypeError, which says what is wrong and never what the key is.
   * @param {string | Jwk} source @returns {Promise<ProofKey>}
   */
  static async from(source) {
    return ProofKey.of(await privatePair(source));
  }

  /**
   * Find the key that a store keeps, making it where there is none; tabs that ask at once get the same one.
   * @param {import("./store.js").Store} store @returns {Promise<ProofKey>}
   */
  static async kept(store) {
    const found = (await store.read(KEY_RECORD)) ?? (await store.settle(KEY_RECORD, await ProofKey.generate()));
    return new ProofKey(found.pair, found.jwk, found.thumbprint);
  }
}
