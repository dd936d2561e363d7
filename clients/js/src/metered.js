/** Calls that cost: one Idempotency-Key for one logical call, however often it is sent. */

import { GatewayError, GatewayUnreachable } from "./errors.js";
import { pause } from "./pause.js";
import { postJson } from "./session.js";

const RETRIES = 3;
const PAUSE_MAX_SECONDS = 30;
// What says that the same request may be sent again: nothing was taken, or the first one is still under way.
const PASSING = new Set(["idempotency_in_progress", "rate_limited", "upstream_overloaded", "not_ready"]);

/** @import {Receipt} from "./receipts.js" */

/**
 * @typedef {object} CallOptions
 * @property {number} maxCostMicrousd the most that the call may cost
 * @property {string} [idempotencyKey] one for one logical call, the same on retries; a new one where left out. Give
 *   your own where a call must not be paid twice beyond this page's life
 * @property {AbortSignal} [signal]
 * @property {number} [retries] how often a call is sent again after a failure that passes; 3 where left out
 */

/**
 * @template [T=any]
 * @typedef {{data: T, receipt: Receipt | null}} Answer
 */

/**
 * @typedef {object} Question
 * @property {"noul" | "choice" | "score"} type
 * @property {string} instructions
 * @property {Record<string, string>} [criteria] a description by label; a noul's, "true" and "false", may be left out,
 *   a score's labels are numbers
 */

/**
 * @typedef {object} JudgementRequest
 * @property {string} [model] the default text backend where left out
 * @property {string | Record<string, string>} state
 * @property {Record<string, Question>} questions
 * @property {string[]} [images] at most four https or data URLs, where the backend takes images
 * @property {boolean} [allow_fallback]
 */

/**
 * @typedef {object} Judgement
 * @property {string} id
 * @property {string} model `<alias>/<version>` of the backend that answered: thresholds belong to it, and to no other
 * @property {Record<string, {
 *   type: Question["type"], answer: boolean | string | number, probabilities: Record<string, number>,
 * }>} answers
 * @property {{from: string, to: string, reason: "overloaded"} | null} fallback
 * @property {{input_tokens: number | null}} usage
 * @property {number} created
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
  const response = await untilFinal(caller, path, { ...init, headers, signal: signal ?? null }, retries);
  if (!response.ok) throw await GatewayError.from(response);
  return { response, idempotencyKey: key };
}

/**
 * Send a request with its key until an answer is final, and give it, whatever its status.
 * @param {import("./caller.js").Caller} caller
 * @param {string} path
 * @param {RequestInit} init
 * @param {number} [retries]
 * @returns {Promise<Response>}
 */
export async function untilFinal(caller, path, init, retries = RETRIES) {
  for (let left = retries; ; left -= 1) {
    const { response, error, pauseSeconds } = await attempt(caller, path, init);
    if (left > 0 && pauseSeconds !== undefined) await pause(pauseSeconds * 1000, init.signal ?? undefined);
    else if (response) return response;
    else throw error;
  }
}

/** Send once: the answer, or the error, with a pause where trying again can help. */
async function attempt(caller, path, init) {
  try {
    const response = await caller.fetch(path, init);
    if (response.ok) return { response };
    const { code } = await GatewayError.from(response.clone());
    return { response, pauseSeconds: PASSING.has(code) ? pauseOf(response) : undefined };
  } catch (error) {
    if (!(error instanceof GatewayUnreachable)) throw error;
    return { error, pauseSeconds: 0.5 };
  }
}

function pauseOf(response) {
  const told = Number(response.headers.get("Retry-After") ?? 1);
  return Number.isFinite(told) ? Math.min(Math.max(told, 0.1), PAUSE_MAX_SECONDS) : 1;
}
