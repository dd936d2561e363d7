/** One attempt to sign in, kept in this tab alone until its callback comes. SPEC: Browser authorization with PKCE. */

const RECORD = "account-gateway:attempt";
const MAX_AGE_MS = 60 * 60 * 1000;

/**
 * @typedef {object} Attempt
 * @property {string} state
 * @property {string} verifier
 * @property {string} redirectUri
 * @property {boolean} deviceSession
 * @property {string} [deviceName]
 * @property {string} [returnTo]
 * @property {number} startedAt
 */

/**
 * Keep an attempt; an earlier one of this tab can no longer be answered.
 * @param {Attempt} attempt
 */
export function keep(attempt) {
  sessionStorage.setItem(RECORD, JSON.stringify(attempt));
}

/**
 * Take the attempt out: whatever the callback says, it is answered now. Undefined where none waits.
 * @returns {Attempt | undefined}
 */
export function take() {
  const kept = sessionStorage.getItem(RECORD);
  sessionStorage.removeItem(RECORD);
  const attempt = kept ? JSON.parse(kept) : undefined;
  return attempt && Date.now() - attempt.startedAt < MAX_AGE_MS ? attempt : undefined;
}
