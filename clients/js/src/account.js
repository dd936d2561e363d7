/** What an account can do with its token, or an organization with one of its own. */

import { Caller } from "./caller.js";
import { ContextTokens } from "./context_tokens.js";
import * as metered from "./metered.js";
import { Organizations } from "./organizations.js";
import { receiptOf } from "./receipts.js";
import { postJson } from "./session.js";
import { Stream } from "./stream.js";
import { reach } from "./transport.js";

const CHAT = "/v1/chat/completions";
const EMBEDDINGS = "/v1/embeddings";
const JUDGEMENT = "/v1/judgement";

export class Account {
  /** @param {Caller} caller */
  constructor(caller) {
    this.caller = caller;
    this.organizations = new Organizations(caller);
  }

  /**
   * Send any request to the gateway, with token and proof; answers as the browser's own `fetch` does.
   * @param {string} path
   * @param {RequestInit} [init]
   */
  fetch(path, init) {
    return this.caller.fetch(path, init);
  }

  /** Tell who the token speaks for, and what it may do. */
  account() {
    return this.caller.json("/v1/account");
  }

  /** List the enabled models with their prices; `authorized` tells whether this token may use one. */
  async models() {
    return (await this.caller.json("/v1/models")).data;
  }

  model(id) {
    return this.caller.json(`/v1/models/${encodeURIComponent(id)}`);
  }

  /** Give the wallet in micro-USD: balance, credits, held, available, debt. */
  wallet() {
    return this.caller.json("/v1/wallet");
  }

  /** List the latest usage records, newest first, 1 to 100 of them. */
  async usage({ limit = 20 } = {}) {
    return (await this.caller.json(`/v1/usage?limit=${limit}`)).data;
  }

  /** Start a payment and give the address where the person confirms it. */
  checkout({ amountMicros, idempotencyKey = crypto.randomUUID() }) {
    return this.caller.json("/v1/billing/checkout", postJson({ amountMicros, idempotencyKey }));
  }

  /** Ask for a chat completion, whole: `{data, receipt}`. */
  chat(body, options) {
    return this.post(CHAT, body, options);
  }

  /** Ask for a chat completion as a stream. */
  chatStream(body, options) {
    return this.stream(CHAT, body, options);
  }

  /** Ask for embeddings: `{data, receipt}`. */
  embeddings(body, options) {
    return this.post(EMBEDDINGS, body, options);
  }

  /**
   * Ask typed questions about a state: `{data, receipt}`. `data.model` is the identity that thresholds belong to.
   * @param {object} body
   * @param {metered.CallOptions} options
   */
  judge(body, options) {
    return this.post(JUDGEMENT, body, options);
  }

  /**
   * Make a metered call whose answer is JSON.
   * @param {string} path
   * @param {object | FormData} body
   * @param {metered.CallOptions} options
   */
  async post(path, body, options) {
    const { response } = await metered.send(this.caller, path, body, options);
    return { data: await reach(() => response.json(), "The gateway"), receipt: receiptOf(response.headers) };
  }

  /**
   * Make a metered call whose answer is a stream.
   * @param {string} path
   * @param {object} body
   * @param {metered.CallOptions} options
   */
  async stream(path, body, options) {
    const { response, idempotencyKey } = await metered.send(this.caller, path, { ...body, stream: true }, options);
    return new Stream(response, idempotencyKey);
  }

  /**
   * Act for an organization: its wallet pays, its seats count. The token is renewed as long as access lasts.
   * @param {string} orgId
   * @param {{product?: string}} [options]
   * @returns {Account}
   */
  inOrganization(orgId, { product } = {}) {
    const tokens = new ContextTokens(this.organizations, { orgId, product });
    return new Account(new Caller(this.caller.transport, tokens));
  }
}
