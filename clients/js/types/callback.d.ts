/**
 * Tell whether a URL is a callback: whether it carries an answer to an authorization.
 * @param {URL} url @returns {boolean}
 */
export function isCallback(url: URL): boolean;
/**
 * Give a URL without what the portal added.
 * @param {URL} url @returns {string}
 */
export function cleaned(url: URL): string;
/**
 * Check an answer against the attempt that waits for it and return its code, or throw SignInError.
 * @param {URL} url @param {import("./attempt.js").Attempt | undefined} attempt @param {string} issuer @returns {string}
 */
export function readCode(url: URL, attempt: import("./attempt.js").Attempt | undefined, issuer: string): string;
