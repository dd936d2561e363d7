/** Calls that cost: one Idempotency-Key for one logical call, however often it is sent. */

import { GatewayError, GatewayUnreachable } from "./errors.js";
import { pause } from "./pause.js";
import { postJson } from "./session.js";

const RETRIES = 3;
const PAUSE_MAX_SECONDS = 30;
// What says that the same request may be sent again: nothing was taken, or the first one is still under way.
const PASSING = new Set(["idempotency_in_progress", "rate_limited", "upstream_overloaded", "not_ready"]);

/**
 * @typedef {object} CallOptions
 * @property {number} maxCostMicrousd the most that the call may cost; required
 * @property {string} [idempotencyKey] yours, where a call must not be paid twice beyond this page's life
 * @property {AbortSignal} [signal]
 * @property {number} [retries] how often a call is sent again after a failure that passes; 3 where left out
 */

/**
 * Send a metered call until an answer is final. Throws GatewayError for a refusal.
 * @param {import("./caller.js").Caller} caller
 * @param {string} path
 * @param {object | FormData} body
 * @param {CallOptions} options
 * @returns {Promise<{response: Response, idempotencyKey: string}>}
 */
export async function send(caller, path, body, { maxCostMicrousd, idempotencyKey, signal, retries = RETRIES }) {
  const key = idempotencyKey ?? crypto.randomUUID();
  const init = body instanceof FormData ? { method: "POST", body } : postJson(body);
  const headers = new Headers(init.headers);
  headers.set("Idempotency-Key", key);
  headers.set("x-service-max-cost-microusd", String(maxCostMicrousd));
  for (let left = retries; ; left -= 1) {
    const { response, error, pauseSeconds } = await attempt(caller, path, { ...init, headers, signal });
    if (response) return { response, idempotencyKey: key };
    if (left <= 0 || pauseSeconds === undefined) throw error;
    await pause(pauseSeconds * 1000, signal);
  }
}

/** Send once: the answer, or the error, with a pause where trying again can help. */
async function attempt(caller, path, init) {
  try {
    const response = await caller.fetch(path, init);
    if (response.ok) return { response };
    const error = await GatewayError.from(response);
    return { error, pauseSeconds: PASSING.has(error.code) ? pauseOf(response) : undefined };
  } catch (error) {
    if (!(error instanceof GatewayUnreachable)) throw error;
    return { error, pauseSeconds: 0.5 };
  }
}

function pauseOf(response) {
  const told = Number(response.headers.get("Retry-After") ?? 1);
  return Number.isFinite(told) ? Math.min(Math.max(told, 0.1), PAUSE_MAX_SECONDS) : 1;
}
