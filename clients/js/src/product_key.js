/** The key that a product's server signs its assertions with. */

import { base64 } from "./encoding.js";
import { privatePair } from "./private_keys.js";
import { described, newPair, SigningKey } from "./signing_key.js";

/** @import {Jwk} from "./private_keys.js" */
/** @import {Algorithm, Pair} from "./signing_key.js" */

export class ProductKey extends SigningKey {
  /**
   * Make a new key, which `toPem` can write.
   * @param {{algorithm?: Algorithm}} [options] @returns {Promise<ProductKey>}
   */
  static async generate({ algorithm = "ES256" } = {}) {
    return ProductKey.of(await newPair(algorithm, true));
  }

  /**
   * Take a pair as WebCrypto or IndexedDB gives it.
   * @param {Pair} pair @returns {Promise<ProductKey>}
   */
  static async of(pair) {
    return new ProductKey(...(await described(pair)));
  }

  /**
   * Read a private key, P-256 or Ed25519: PEM (PKCS#8 or SEC 1), or a JWK as an object or text. It cannot be exported
   * again. Throws TypeError, which says what is wrong and never what the key is.
   * @param {string | Jwk} source @returns {Promise<ProductKey>}
   */
  static async from(source) {
    return ProductKey.of(await privatePair(source));
  }

  /** The key's id: its thumbprint. */
  get kid() {
    return this.thumbprint;
  }

  /**
   * Give the key set, public parts alone, that the gateway's operator configures for the product's integration.
   */
  publicJwks() {
    return { keys: [{ ...this.jwk, kid: this.kid, use: "sig", alg: this.algorithm }] };
  }

  /**
   * Write the private key of `generate` as PEM (PKCS#8). Keep it in a file that only its owner may read.
   * @returns {Promise<string>}
   */
  async toPem() {
    const text = base64(await crypto.subtle.exportKey("pkcs8", this.pair.privateKey));
    return `-----BEGIN PRIVATE KEY-----\n${text.replace(/.{64}(?=.)/g, "$&\n")}\n-----END PRIVATE KEY-----\n`;
  }
}
