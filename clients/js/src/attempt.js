/** One attempt to sign in, kept until its callback comes. SPEC: Browser authorization with PKCE. */

import { exclusively } from "./locks.js";

const RECORD = "account-gateway:attempt";
const STORED = "attempt";
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
 * @typedef {object} Attempts
 * @property {(attempt: Attempt) => Promise<void>} keep keeps an attempt; an earlier one can no longer be answered
 * @property {() => Promise<Attempt | undefined>} take takes the attempt out: whatever the callback says, it is answered
 *   now. Undefined where none waits
 */

/**
 * Keep attempts in this tab alone.
 * @returns {Attempts}
 */
export function inTab() {
  return {
    async keep(attempt) {
      sessionStorage.setItem(RECORD, JSON.stringify(attempt));
    },
    async take() {
      const kept = sessionStorage.getItem(RECORD);
      sessionStorage.removeItem(RECORD);
      return kept ? fresh(JSON.parse(kept)) : undefined;
    },
  };
}

/**
 * Keep attempts in a store, where there are no tabs.
 * @param {import("./store.js").Store} store @returns {Attempts}
 */
export function inStore(store) {
  return {
    keep: (attempt) => store.write(STORED, attempt),
    take: () =>
      exclusively(`account-gateway ${store.scope} ${STORED}`, async () => {
        const kept = await store.read(STORED);
        await store.remove(STORED);
        return fresh(kept);
      }),
  };
}

/** @param {Attempt | undefined} attempt */
function fresh(attempt) {
  return attempt && Date.now() - attempt.startedAt < MAX_AGE_MS ? attempt : undefined;
}
