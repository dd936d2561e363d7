/** Following what the gateway executes until it is over. */

import { pause } from "./pause.js";

const POLL_MS = 1000;
const ACTIVE = new Set(["queued", "running", "cancelling"]);

/** @typedef {{code: string, message: string}} ExecutionError */

/**
 * @typedef {object} PollOptions
 * @property {number} [pollMs] how long to wait before asking again; 1000 where left out
 * @property {AbortSignal} [signal]
 */

/**
 * Give an execution each time it is asked for, the last time when it is over.
 * @param {() => Promise<any>} read @param {PollOptions} [options]
 */
export async function* followed(read, { pollMs = POLL_MS, signal } = {}) {
  for (;;) {
    const found = await read();
    yield found;
    if (!ACTIVE.has(found.status)) return;
    await pause(pollMs, signal);
  }
}

/**
 * Wait until an execution is over.
 * @param {() => Promise<any>} read @param {PollOptions} [options]
 */
export async function finished(read, options) {
  let latest;
  for await (const found of followed(read, options)) latest = found;
  return latest;
}

/** Tell whether an execution is over. */
export function isOver({ status }) {
  return !ACTIVE.has(status);
}
