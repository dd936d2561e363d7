/** The body of a metered answer, which is passed on and whose end completes the receipt. */

import { chargeIn, receiptOf } from "./receipts.js";

/** @import {Receipt} from "./receipts.js" */

const TAIL_CHARACTERS = 2048;
const LAST_EVENT = /^(?:data: \[DONE\]|event: (?:message_stop|response\.(?:completed|incomplete|failed)))\r?$/m;

/**
 * Tell the receipt when the answer has ended, broken off or been left. Whoever reads the answer waits until it is told.
 * @param {Response} response @param {((receipt: Receipt) => unknown) | undefined} onReceipt @returns {Response}
 */
export function watched(response, onReceipt) {
  const receipt = receiptOf(response.headers);
  if (!receipt || !onReceipt || !response.body) return response;
  const body = new ReadableStream(new Watch(response.body, receipt, onReceipt), { highWaterMark: 0 });
  return new Response(body, { status: response.status, statusText: response.statusText, headers: response.headers });
}

/** @implements {UnderlyingDefaultSource<Uint8Array>} */
class Watch {
  #reader;
  #receipt;
  #onReceipt;
  #decoder = new TextDecoder();
  #tail = "";
  #hasEnded = false;

  /**
   * @param {ReadableStream<Uint8Array>} body @param {Receipt} receipt
   * @param {(receipt: Receipt) => unknown} onReceipt
   */
  constructor(body, receipt, onReceipt) {
    this.#reader = body.getReader();
    this.#receipt = receipt;
    this.#onReceipt = onReceipt;
  }

  /** @param {ReadableStreamDefaultController<Uint8Array>} controller */
  async pull(controller) {
    const { done, value } = await this.#read();
    if (done) controller.close();
    else controller.enqueue(value);
  }

  /** What comes after the last event, where a reader may stop, is the receipt, and comes at once. */
  async cancel(reason) {
    while (!this.#hasEnded && LAST_EVENT.test(this.#tail)) await this.#read().catch(() => undefined);
    await this.#end();
    await this.#reader.cancel(reason);
  }

  async #read() {
    try {
      const read = await this.#reader.read();
      if (read.done) await this.#end();
      else this.#tail = (this.#tail + this.#decoder.decode(read.value, { stream: true })).slice(-TAIL_CHARACTERS);
      return read;
    } catch (error) {
      await this.#end();
      throw error;
    }
  }

  async #end() {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    await this.#onReceipt({ ...this.#receipt, ...closing(this.#tail) });
  }
}

/** Read the charge that closes a stream. @param {string} tail @returns {Partial<Receipt>} */
function closing(tail) {
  const comments = tail.split("\n").filter((line) => line.startsWith(":"));
  const charge = comments.map((line) => chargeIn(line.slice(1).trimEnd())).filter((found) => found !== undefined).at(-1);
  return charge === undefined ? {} : { chargeMicrousd: charge };
}
