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
export function dpopProof(key: import("./keys.js").ProofKey, { method, url, now, accessToken, nonce }: {
    method: string;
    url: string;
    now: number;
    accessToken?: string | undefined;
    nonce?: string | undefined;
}): Promise<string>;
/**
 * Write a URL as a proof names it.
 * @param {string} url @returns {string}
 */
export function targetOf(url: string): string;
