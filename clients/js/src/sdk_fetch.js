/** A `fetch` for the official SDKs: it proves, keys and limits their calls, and tells each one's receipt. */

import { UnsafeRetry } from "./errors.js";
import { untilFinal } from "./metered.js";
import { chargeIn, receiptOf } from "./receipts.js";

/** @import {Receipt} from "./receipts.js" */

/**
 * @typedef {object} SdkOptions
 * @property {number} maxCostMicrousd the most that a call may cost
 * @property {(receipt: Receipt) => void} [onReceipt] called once for each metered call, when its answer has ended
 */

const KEY = "Idempotency-Key";
const MAX_COST = "x-service-max-cost-microusd";
const ATTEMPT = "x-stainless-retry-count";
// Others tell the vendor about the SDK and the machine, and would need the gateway's leave in a browser.
const SENT_ON = ["Accept", "Content-Type", KEY, MAX_COST, "anthropic-beta", "anthropic-version"];
const TAIL_CHARACTERS = 2048;

/**
 * @param {import("./caller.js").Caller} caller @param {SdkOptions} options
 * @returns {(input: string | URL | Request, init?: RequestInit) => Promise<Response>}
 */
export function sdkFetch(caller, { maxCostMicrousd, onReceipt }) {
  return async (input, init = {}) => {
    const headers = sentOn(new Headers(init.headers));
    const url = input instanceof Request ? input.url : String(input);
    if (init.method?.toUpperCase() !== "POST") return caller.fetch(url, { ...init, headers });
    if (!headers.has(KEY)) headers.set(KEY, newKey(new Headers(init.headers)));
    if (!headers.has(MAX_COST)) headers.set(MAX_COST, String(maxCostMicrousd));
    const response = await untilFinal(caller, url, { ...init, headers });
    return response.ok ? watched(response, onReceipt) : final(response);
  };
}

/** @param {Headers} given */
function sentOn(given) {
  const headers = new Headers();
  for (const name of SENT_ON) if (given.has(name)) headers.set(name, given.get(name) ?? "");
  return headers;
}

/** Make the key of a call. Throws UnsafeRetry for a later attempt, whose first one may have been paid. @param {Headers} given */
function newKey(given) {
  if (Number(given.get(ATTEMPT) ?? 0) > 0) {
    throw new UnsafeRetry("The call was repeated here already: give the SDK `maxRetries: 0`, or the call its own key.");
  }
  return crypto.randomUUID();
}

/** Say that the SDK need not repeat the call: that was done here, with the same key. @param {Response} response */
function final(response) {
  const headers = new Headers(response.headers);
  headers.set("x-should-retry", "false");
  return new Response(response.body, { status: response.status, statusText: response.statusText, headers });
}

/** Tell the receipt when the answer has ended. @param {Response} response @param {SdkOptions["onReceipt"]} onReceipt */
function watched(response, onReceipt) {
  const receipt = receiptOf(response.headers);
  if (!receipt || !onReceipt || !response.body) return response;
  const body = watchedBody(response.body, (tail) => onReceipt({ ...receipt, ...closing(tail) }));
  return new Response(body, { status: response.status, statusText: response.statusText, headers: response.headers });
}

/**
 * Pass a body on, and tell its last characters when it ends, breaks off or is left.
 * @param {ReadableStream<Uint8Array>} body @param {(tail: string) => void} end
 */
function watchedBody(body, end) {
  const reader = body.getReader();
  const decoder = new TextDecoder();
  let tail = "";
  let hasEnded = false;
  const ended = () => {
    if (!hasEnded) end(tail);
    hasEnded = true;
  };
  /** @type {UnderlyingDefaultSource<Uint8Array>} */
  const source = {
    async pull(controller) {
      const { done, value } = await reader.read().catch((error) => (ended(), Promise.reject(error)));
      if (done) {
        ended();
        return controller.close();
      }
      tail = (tail + decoder.decode(value, { stream: true })).slice(-TAIL_CHARACTERS);
      controller.enqueue(value);
    },
    cancel(reason) {
      ended();
      return reader.cancel(reason);
    },
  };
  return new ReadableStream(source, { highWaterMark: 0 });
}

/** Read the charge that closes a stream. @param {string} tail @returns {Partial<Receipt>} */
function closing(tail) {
  const comments = tail.split("\n").filter((line) => line.startsWith(":"));
  const charge = comments.map((line) => chargeIn(line.slice(1).trimEnd())).filter((found) => found !== undefined).at(-1);
  return charge === undefined ? {} : { chargeMicrousd: charge };
}
