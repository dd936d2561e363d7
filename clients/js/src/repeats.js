/** The keys of calls that failed and that an SDK may repeat: whoever repeats a call must use its key, or may pay twice. */

import { sha256 } from "./encoding.js";
import { UnsafeRetry } from "./errors.js";

// Longer than any SDK waits before it repeats a call.
const KEPT_MS = 120_000;
const KEPT_MAX = 1000;

/** @typedef {{url: string, body: BodyInit | null | undefined}} Call */

export class Repeats {
  /** @type {{key: string, call: string, until: number, isAborted: boolean}[]} */
  #failed = [];

  /**
   * Give the key of a call: that of an equal one that failed where this repeats it, else a new one.
   *
   * OpenAI's and Anthropic's SDKs count the attempts of a call; others do not, so that any equal call may be a repetition.
   * Throws UnsafeRetry for a repetition of an unknown call.
   * @param {Call} call @param {number | undefined} attempt 0 for the first one; undefined where the SDK does not count
   * @returns {Promise<string>}
   */
  async keyOf(call, attempt) {
    if (attempt === 0 || (attempt === undefined && this.#failed.length === 0)) return crypto.randomUUID();
    const name = await nameOf(call);
    const isIt = (one) => one.call === name && Date.now() < one.until && (attempt !== undefined || !one.isAborted);
    const found = this.#failed.find(isIt);
    this.#failed = this.#failed.filter((one) => one !== found);
    if (found) return found.key;
    if (attempt === undefined) return crypto.randomUUID();
    throw new UnsafeRetry("The SDK repeats a call that is not known here. Give the call an Idempotency-Key of its own.");
  }

  /**
   * Remember a call that failed. One that was aborted was perhaps given up, so only what says so repeats it.
   * @param {Call} call @param {string} key @param {{isAborted: boolean}} how
   */
  async failed(call, key, { isAborted }) {
    const now = Date.now();
    const one = { key, call: await nameOf(call), until: now + KEPT_MS, isAborted };
    this.#failed = [...this.#failed.filter(({ until }) => now < until), one].slice(-KEPT_MAX);
  }
}

/** Name a call by its address and body. @param {Call} call */
async function nameOf({ url, body }) {
  return sha256(JSON.stringify([url, await (body instanceof FormData ? partsOf(body) : digestOf(body))]));
}

function partsOf(form) {
  return Promise.all([...form].map(async ([name, value]) => [name, value.name, value.type, await digestOf(value)]));
}

async function digestOf(body) {
  const digest = await crypto.subtle.digest("SHA-256", await new Response(body).arrayBuffer());
  return Array.from(new Uint8Array(digest));
}
