/** A `fetch` for other packages: it proves, keys and limits their calls, and tells each one's receipt. */

import { untilFinal } from "./metered.js";
import { Repeats } from "./repeats.js";
import { watched } from "./watched_body.js";

/** @import {Receipt} from "./receipts.js" */

/**
 * @typedef {object} SdkOptions
 * @property {number} maxCostMicrousd the most that a call may cost
 * @property {(receipt: Receipt) => unknown} [onReceipt] called once for each metered call when its answer has ended; a
 *   promise that it gives is awaited before the reader of the answer learns of the end
 */

const KEY = "Idempotency-Key";
const MAX_COST = "x-service-max-cost-microusd";
const ATTEMPT = "x-stainless-retry-count";
// Others tell the vendor about the SDK and the machine, and would need the gateway's leave in a browser.
const SENT_ON = ["Accept", "Content-Type", KEY, MAX_COST, "anthropic-beta", "anthropic-version"];

/**
 * @param {import("./caller.js").Caller} caller @param {SdkOptions} options
 * @returns {(input: string | URL | Request, init?: RequestInit) => Promise<Response>}
 */
export function sdkFetch(caller, { maxCostMicrousd, onReceipt }) {
  const repeats = new Repeats();
  return async (input, given) => {
    const { url, init } = await requestOf(input, given);
    const headers = sentOn(init.headers);
    if (init.method !== "POST") return caller.fetch(url, { ...init, headers });
    const ownKey = headers.get(KEY);
    const call = { url, body: init.body };
    const key = ownKey ?? (await repeats.keyOf(call, attemptOf(init.headers)));
    headers.set(KEY, key);
    if (!headers.has(MAX_COST)) headers.set(MAX_COST, String(maxCostMicrousd));
    try {
      const response = await untilFinal(caller, url, { ...init, headers });
      if (response.ok) return watched(response, onReceipt);
      if (!ownKey && isRepeatable(response.status)) await repeats.failed(call, key, { isAborted: false });
      return final(response);
    } catch (error) {
      if (!ownKey) await repeats.failed(call, key, { isAborted: Boolean(init.signal?.aborted) });
      throw error;
    }
  };
}

/**
 * Read what `fetch` was given. A body that can be read only once is read, because it may have to be sent again.
 * @param {string | URL | Request} input @param {RequestInit} [init]
 * @returns {Promise<{url: string, init: RequestInit & {method: string, headers: Headers}}>}
 */
async function requestOf(input, init = {}) {
  if (!(input instanceof Request) && !(init.body instanceof ReadableStream)) {
    const method = (init.method ?? "GET").toUpperCase();
    return { url: String(input), init: { ...init, method, headers: new Headers(init.headers) } };
  }
  const request = new Request(input, /** @type {RequestInit} */ ({ ...init, ...(init.body && { duplex: "half" }) }));
  const { url, method, headers, signal } = request;
  const body = request.body ? await request.arrayBuffer() : null;
  return { url, init: { method, headers, signal, body } };
}

/** @param {Headers} given */
function sentOn(given) {
  const headers = new Headers();
  for (const name of SENT_ON) if (given.has(name)) headers.set(name, given.get(name) ?? "");
  return headers;
}

/** Read which attempt of a call this is, where the SDK counts them. @param {Headers} given */
function attemptOf(given) {
  const told = given.get(ATTEMPT);
  return told === null ? undefined : Number(told);
}

/** Tell whether SDKs repeat a call with such an answer. @param {number} status */
function isRepeatable(status) {
  return status === 408 || status === 409 || status === 429 || status >= 500;
}

/** Say that the SDK need not repeat the call: that was done here, with the same key. @param {Response} response */
function final(response) {
  const headers = new Headers(response.headers);
  headers.set("x-should-retry", "false");
  return new Response(response.body, { status: response.status, statusText: response.statusText, headers });
}
