/** A metered answer that comes as a stream. */

import { GatewayError, GatewayUnreachable } from "./errors.js";
import { readEvents } from "./events.js";
import { chargeIn, receiptOf } from "./receipts.js";
import { reach } from "./transport.js";

/**
 * A metered answer that comes as a stream; whoever stops reading cancels the call.
 * @implements {AsyncIterable<any>}
 */
export class Stream {
  /** @param {Response} response @param {string} idempotencyKey */
  constructor(response, idempotencyKey) {
    /** @readonly */
    this.response = response;
    /**
     * Send the call again with this key after a stream that broke off: it is not paid twice.
     * @readonly
     */
    this.idempotencyKey = idempotencyKey;
    /**
     * The charge is there once the stream has ended.
     * @type {import("./receipts.js").Receipt | null}
     */
    this.receipt = receiptOf(response.headers);
  }

  /**
   * Give each event's JSON. Throws GatewayError for an error event, GatewayUnreachable where the stream breaks off.
   * @returns {AsyncGenerator<any, void, undefined>}
   */
  async *[Symbol.asyncIterator]() {
    let isWhole = false;
    for await (const { data, comment } of readEvents(this.#chunks())) {
      if (comment !== undefined) {
        isWhole = this.#close(comment) || isWhole;
      } else if (data === "[DONE]") {
        isWhole = true;
      } else {
        yield this.#read(data ?? "");
      }
    }
    if (!isWhole) throw new GatewayUnreachable("The stream broke off.");
  }

  /**
   * Give the text as it grows, of chat completions, responses and messages alike.
   * @returns {AsyncGenerator<string, void, undefined>}
   */
  async *text() {
    for await (const event of this) {
      const delta = textIn(event);
      if (delta) yield delta;
    }
  }

  #read(data) {
    const event = jsonIn(data);
    if (event === undefined || event.error) throw GatewayError.of(this.response.status, event);
    return event;
  }

  #close(comment) {
    const charge = chargeIn(comment);
    if (charge !== undefined && this.receipt) this.receipt = { ...this.receipt, chargeMicrousd: charge };
    return charge !== undefined;
  }

  /** Decode the body; whoever stops reading cancels the call, and what was delivered is charged. */
  async *#chunks() {
    const body = /** @type {ReadableStream<BufferSource>} */ (this.response.body);
    const reader = body.pipeThrough(new TextDecoderStream()).getReader();
    try {
      for (;;) {
        const { done, value } = await reach(() => reader.read(), "The stream broke off; the gateway");
        if (done) return;
        yield value;
      }
    } finally {
      await reader.cancel().catch(() => undefined);
    }
  }
}

function jsonIn(data) {
  try {
    return JSON.parse(data) ?? undefined;
  } catch {
    return undefined;
  }
}

/** Give the text that an event adds. @param {any} event @returns {string | undefined} */
function textIn(event) {
  if (event.type === "response.output_text.delta") return event.delta;
  if (event.type === "content_block_delta") return event.delta.text;
  return event.choices?.[0]?.delta?.content;
}
