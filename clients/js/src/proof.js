/** DPoP proofs. RFC 9449 section 4.2. */

import { randomText, sha256 } from "./encoding.js";

/**
 * Sign a proof for exactly one request: it is refused a second time.
 * @param {import("./keys.js").ProofKey} key
 * @param {object} request
 * @param {string} request.method
 * @param {string} request.url absolute; the proof names it without query and fragment
 * @param {number} request.now Unix seconds, as the gateway's clock has it
 * @param {string} [request.accessToken] binds the proof to this token
 * @param {string} [request.nonce] the gateway's, where it asked for one
 * @returns {Promise<string>}
 */
export async function dpopProof(key, { method, url, now, accessToken, nonce }) {
  const claims = { jti: randomText(), htm: method.toUpperCase(), htu: targetOf(url), iat: Math.floor(now) };
  if (accessToken !== undefined) claims.ath = await sha256(accessToken);
  if (nonce !== undefined) claims.nonce = nonce;
  return key.signJwt({ typ: "dpop+jwt", jwk: key.jwk }, claims);
}

/**
 * Write a URL as a proof names it.
 * @param {string} url @returns {string}
 */
export function targetOf(url) {
  const target = new URL(url);
  target.search = "";
  target.hash = "";
  return target.href;
}
