/** Live sessions: a WebSocket that authenticates by subprotocols, because a page can set no headers, and renews its token. */

import { GatewayUnreachable } from "./errors.js";
import { dpopProof } from "./proof.js";

const PATH = "/v1/realtime";
const PROTOCOL = "service.realtime.v1";
const RENEW_BEFORE_SECONDS = 30;

/**
 * @typedef {object} RealtimeOptions
 * @property {string} [model] an alias that serves sessions; "realtime" where left out
 * @property {number} maxCostMicrousd the most that the session may cost
 * @property {string} [idempotencyKey] characters of a subprotocol only: letters, digits and !#$%&'*+-.^_`|~
 * @property {typeof WebSocket} [WebSocket] where there is none of its own, as in Node.js 20: that of the package `ws`
 */

/**
 * A live session. Iterating it gives the vendor's events and the gateway's own, until it is over.
 * @implements {AsyncIterable<any>}
 */
export class RealtimeSession {
  #caller;
  #token;
  #socket;
  #queue = [];
  #wake = /** @type {(heard?: unknown) => void} */ (() => {});
  #renewal;

  /**
   * Open a session. Throws GatewayUnreachable where the handshake was refused: a browser does not say why.
   * @param {import("./caller.js").Caller} caller @param {RealtimeOptions} options @returns {Promise<RealtimeSession>}
   */
  static async open(caller, { model = "realtime", maxCostMicrousd, idempotencyKey = crypto.randomUUID(), ...options }) {
    const session = new RealtimeSession(caller, idempotencyKey);
    const Socket = options.WebSocket ?? globalThis.WebSocket;
    if (!Socket) throw new TypeError("There is no WebSocket here: give one, such as that of the package ws.");
    await session.#open(model, maxCostMicrousd, Socket);
    return session;
  }

  /**
   * @param {import("./caller.js").Caller} caller
   * @param {string} idempotencyKey
   * @private
   */
  constructor(caller, idempotencyKey) {
    this.#caller = caller;
    /** @readonly */
    this.idempotencyKey = idempotencyKey;
    /**
     * The latest `service.usage`: what the session has cost so far.
     * @type {{usageId: string, chargeMicrousd: number, holdMicrousd: number} | null}
     */
    this.usage = null;
    /**
     * Why the session is over, once it is; 4402 where its maximum is spent.
     * @type {{code: number, reason: string} | null}
     */
    this.closed = null;
  }

  /**
   * Send an event of the vendor's realtime protocol.
   * @param {object} event
   */
  send(event) {
    this.#socket.send(JSON.stringify(event));
  }

  /** End the session; iterating it ends too. */
  close() {
    this.#socket.close();
  }

  /**
   * Give every event, also those that came before somebody listened.
   * @returns {AsyncGenerator<any, void, undefined>}
   */
  async *[Symbol.asyncIterator]() {
    for (;;) {
      while (this.#queue.length) yield this.#queue.shift();
      if (this.closed) return;
      await new Promise((resolve) => (this.#wake = resolve));
    }
  }

  async #open(model, maxCostMicrousd, Socket) {
    this.#token = await this.#caller.tokens.token();
    const proof = await this.#prove();
    const offers = [
      PROTOCOL,
      `service.token.${this.#token}`,
      `service.proof.${proof}`,
      `service.key.${this.idempotencyKey}`,
      `service.max.${maxCostMicrousd}`,
    ];
    const address = `${this.#caller.transport.baseUrl.replace(/^http/, "ws")}${PATH}?model=${encodeURIComponent(model)}`;
    this.#socket = new Socket(address, offers);
    await new Promise((resolve, reject) => {
      this.#socket.onopen = resolve;
      this.#socket.onerror = () => reject(new GatewayUnreachable("The session could not be opened."));
    });
    this.#socket.onmessage = ({ data }) => this.#take(JSON.parse(data));
    this.#socket.onclose = ({ code, reason }) => this.#end({ code, reason });
    this.#renewLater();
  }

  #take(event) {
    if (event.type === "service.usage") {
      const { usage_id: usageId, charge_microusd: chargeMicrousd, hold_microusd: holdMicrousd } = event;
      this.usage = { usageId, chargeMicrousd, holdMicrousd };
    }
    this.#queue.push(event);
    this.#wake();
  }

  #end(closed) {
    clearTimeout(this.#renewal);
    this.closed = closed;
    this.#wake();
  }

  /** Make a proof for the handshake's address; a renewal needs the same. */
  async #prove() {
    const { transport } = this.#caller;
    const proven = { method: "GET", url: transport.baseUrl + PATH, now: transport.freshness.now() };
    return dpopProof(await transport.key(), { ...proven, nonce: transport.freshness.nonce, accessToken: this.#token });
  }

  #renewLater() {
    const left = expiryOf(this.#token) - this.#caller.transport.freshness.now() - RENEW_BEFORE_SECONDS;
    this.#renewal = setTimeout(() => this.#renew(), Math.max(left, 0) * 1000);
  }

  /** Present a newer token. Where there is none to be had, the session ends with the one that it has. */
  async #renew() {
    try {
      this.#token = await this.#caller.tokens.renew(this.#token);
    } catch {
      return;
    }
    const proof = await this.#prove();
    if (this.closed) return;
    this.send({ type: "service.reauthorize", access_token: this.#token, proof });
    this.#renewLater();
  }
}

/** Read when a token ends, in Unix seconds. */
function expiryOf(token) {
  const [, claims] = token.split(".");
  return JSON.parse(atob(claims.replaceAll("-", "+").replaceAll("_", "/"))).exp;
}
