/** What an account can do with its token, or an organization with one of its own. */

import { accountKey } from "./account_key.js";
import { Caller } from "./caller.js";
import { CI } from "./ci.js";
import { ContextTokens } from "./context_tokens.js";
import { Evolution } from "./evolution.js";
import * as metered from "./metered.js";
import { Organizations } from "./organizations.js";
import { Projects } from "./projects.js";
import { RealtimeSession } from "./realtime.js";
import { receiptOf } from "./receipts.js";
import { Responses } from "./responses.js";
import { Sandbox } from "./sandbox.js";
import { postJson } from "./session.js";
import { Stream } from "./stream.js";
import { reach } from "./transport.js";

const CHAT = "/v1/chat/completions";
const RESPONSES = "/v1/responses";
const EMBEDDINGS = "/v1/embeddings";
const CONTEXTUAL_EMBEDDINGS = "/v1/embeddings/contextual";
const LATE_INTERACTION = "/v1/late-interaction/score";
const IMAGES = "/v1/images/generations";
const RERANK = "/v1/rerank";
const SPEECH = "/v1/audio/speech";
const TRANSCRIPTIONS = "/v1/audio/transcriptions";
const TRANSLATIONS = "/v1/audio/translations";
const JUDGEMENT = "/v1/judgement";

export class Account {
  /** @param {Caller} caller */
  constructor(caller) {
    this.caller = caller;
    this.organizations = new Organizations(caller);
    this.responses = new Responses(caller);
    this.projects = new Projects(caller);
    this.sandbox = new Sandbox(caller);
    this.ci = new CI(caller);
    this.evolution = new Evolution(caller);
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

  /** Get the 32 bytes that an account's devices share: `{kid, key}`. They travel encrypted. */
  accountKey() {
    return accountKey(this.caller);
  }

  /** Ask for a chat completion, whole: `{data, receipt}`. */
  chat(body, options) {
    return this.post(CHAT, body, options);
  }

  /** Ask for a chat completion as a stream. */
  chatStream(body, options) {
    return this.stream(CHAT, body, options);
  }

  /** Ask for a response, whole: `{data, receipt}`; `responses` reads and deletes what is stored of it. */
  respond(body, options) {
    return this.post(RESPONSES, body, options);
  }

  /** Ask for a response as a stream. */
  respondStream(body, options) {
    return this.stream(RESPONSES, body, options);
  }

  /** Ask for embeddings: `{data, receipt}`. */
  embeddings(body, options) {
    return this.post(EMBEDDINGS, body, options);
  }

  /** Ask for embeddings of chunks in the context of their documents: `{data, receipt}`. */
  contextualEmbeddings(body, options) {
    return this.post(CONTEXTUAL_EMBEDDINGS, body, options);
  }

  /** Have documents scored by late interaction: `{data, receipt}`. */
  lateInteraction(body, options) {
    return this.post(LATE_INTERACTION, body, options);
  }

  /** Ask for images, as base64: `{data, receipt}`. */
  images(body, options) {
    return this.post(IMAGES, body, options);
  }

  /** Ask for an image as a stream: partial images where `partial_images` says so, then the image. */
  imageStream(body, options) {
    return this.stream(IMAGES, body, options);
  }

  /** Ask for documents in the order of their relevance to a query: `{data, receipt}`. */
  rerank(body, options) {
    return this.post(RERANK, body, options);
  }

  /**
   * Have a text spoken: `{data, receipt}` with the sound as a Blob. The receipt has no charge; the usage record has it.
   * Throws GatewayUnreachable where the sound breaks off.
   */
  async speech(body, options) {
    const { response } = await metered.send(this.caller, SPEECH, body, options);
    return { data: await reach(() => response.blob(), "The gateway"), receipt: receiptOf(response.headers) };
  }

  /** Have a file transcribed, a FormData with `file` and `model`: `{data, receipt}`. */
  transcribe(form, options) {
    return this.post(TRANSCRIPTIONS, form, options);
  }

  /** Have a file translated into English, likewise. */
  translate(form, options) {
    return this.post(TRANSLATIONS, form, options);
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
   * Open a live session: hear its events with `for await`, say something with `send`. It is held for its maximum, and
   * what it used is charged once it is over.
   * @param {import("./realtime.js").RealtimeOptions} options
   */
  connectRealtime(options) {
    return RealtimeSession.open(this.caller, options);
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
