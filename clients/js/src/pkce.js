/** Proof Key for Code Exchange, method S256. RFC 7636 section 4. */

import { randomText, sha256 } from "./encoding.js";

/**
 * Make a verifier and its challenge.
 * @returns {Promise<{verifier: string, challenge: string}>}
 */
export async function newPkce() {
  const verifier = randomText();
  return { verifier, challenge: await sha256(verifier) };
}
