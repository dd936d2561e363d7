/** What the portal sends the browser back with. RFC 6749 section 4.1.2, RFC 9207, RFC 9700 section 4.7. */

import { SignInError } from "./errors.js";

const OURS = ["code", "state", "iss", "error", "error_description"];

/**
 * Tell whether a URL is a callback: whether it carries an answer to an authorization.
 * @param {URL} url @returns {boolean}
 */
export function isCallback(url) {
  return url.searchParams.has("state") && (url.searchParams.has("code") || url.searchParams.has("error"));
}

/**
 * Give a URL without what the portal added.
 * @param {URL} url @returns {string}
 */
export function cleaned(url) {
  const rest = new URL(url);
  for (const name of OURS) rest.searchParams.delete(name);
  return rest.href;
}

/**
 * Check an answer against the attempt that waits for it and return its code, or throw SignInError.
 * @param {URL} url @param {import("./attempt.js").Attempt | undefined} attempt @param {string} issuer @returns {string}
 */
export function readCode(url, attempt, issuer) {
  const answer = single(url.searchParams);
  if (!attempt || !samePage(url, attempt.redirectUri)) {
    throw new SignInError("unexpected_callback", "No sign-in in this tab is waiting for an answer.");
  }
  if (answer.state !== attempt.state) {
    throw new SignInError("state_mismatch", "The answer belongs to another sign-in.");
  }
  if (answer.iss !== issuer) throw new SignInError("issuer_mismatch", "The answer comes from another service.");
  if (answer.error !== undefined) throw new SignInError(answer.error, answer.error_description);
  if (!answer.code) throw new SignInError("invalid_callback", "The answer has no code.");
  return answer.code;
}

/** Read each parameter of ours, which may stand only once. */
function single(parameters) {
  const answer = {};
  for (const name of OURS) {
    const values = parameters.getAll(name);
    if (values.length > 1) throw new SignInError("invalid_callback", `The answer contains ${name} more than once.`);
    if (values.length === 1) answer[name] = values[0];
  }
  return answer;
}

function samePage(url, redirectUri) {
  const expected = new URL(redirectUri);
  return url.origin === expected.origin && url.pathname === expected.pathname;
}
