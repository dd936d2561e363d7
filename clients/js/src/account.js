/** What an account can do with its token, or an organization with one of its own. */

import { accountKey } from "./account_key.js";
import { CachedTokens } from "./cached_tokens.js";
import { Caller } from "./caller.js";
import { CI } from "./ci.js";
import { Evolution } from "./evolution.js";
import * as metered from "./metered.js";
import { Organizations } from "./organizations.js";
import { Projects } from "./projects.js";
import { RealtimeSession } from "./realtime.js";
import { receiptOf } from "./receipts.js";
import { Responses } from "./responses.js";
import { path } from "./routes.js";
import { Sandbox } from "./sandbox.js";
import { sdkFetch } from "./sdk_fetch.js";
import { postJson } from "./session.js";
import { fetchReceiptKeys, verifyReceipt } from "./signed_receipts.js";
import { Stream } from "./stream.js";
import { reach, readJson } from "./transport.js";

/** @import {Answer, CallOptions, Judgement, JudgementRequest} from "./metered.js" */
/** @import {Component, ReceiptClaims, ReceiptKeys} from "./signed_receipts.js" */
/** @import {Role} from "./organizations.js" */

/**
 * @typedef {{
 *   did: string, displayName: string | null, createdAt: string, clientId: string, product: string | null,
 *   scopes: string[], organization: {orgId: string, membershipId: string, role: Role} | null, tokenExpiresAt: string,
 * }} AccountView
 */

/** @typedef {{id: string, routes: string[], pricing: Record<string, unknown>, authorized: boolean}} Model */

/**
 * @typedef {{
 *   currency: string, balanceMicrousd: number, creditsMicrousd: number, heldMicrousd: number,
 *   availableMicrousd: number, debtMicrousd: number,
 *   credits: {
 *     creditId: string, product: string | null, grantedMicrousd: number, remainingMicrousd: number,
 *     expiresAt: string | null,
 *   }[],
 * }} Wallet
 */

/**
 * @typedef {{
 *   usageId: string, requestId: string, route: string, model: string, product: string | null,
 *   orgId: string | null, membershipId: string | null, status: "settled" | "held" | "released" | "reconciling",
 *   inputTokens: number | null, outputTokens: number | null, heldMicrousd: number, chargedMicrousd: number,
 *   createdAt: string, settledAt: string | null, idempotencyKey: string | null,
 * }} UsageRecord
 */

/**
 * A budget that limits the token's calls; `clientId` is the app whose calls it counts.
 * @typedef {{
 *   budgetId: string, scope: "account" | "client" | "org" | "product" | "member" | "member_product",
 *   product: string | null, membershipId: string | null, clientId: string | null, limitMicrousd: number,
 *   spentMicrousd: number, heldMicrousd: number, period: "day" | "week" | "month", periodStart: string,
 *   periodEnd: string, override: {limitMicrousd: number, until: string} | null, status: "active",
 * }} AccountBudget
 */
/** @typedef {UsageRecord & {components: Component[], sealedAt: string | null}} UsageDetail */

/** @typedef {{provider: string, transactionId: string, url: string}} Checkout */

// Such a token ends with the one that it was minted from, which may be soon.
const CONTEXT_RENEW_BEFORE_SECONDS = 10;
const CHAT = "/v1/chat/completions";
const RESPONSES = "/v1/responses";
const MESSAGES = "/v1/messages";
const MESSAGE_TOKENS = "/v1/messages/count_tokens";
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
    /** @private */
    this.caller = caller;
    /** @readonly */
    this.organizations = new Organizations(caller);
    /** @readonly */
    this.responses = new Responses(caller);
    /** @readonly */
    this.projects = new Projects(caller);
    /** @readonly */
    this.sandbox = new Sandbox(caller);
    /** @readonly */
    this.ci = new CI(caller);
    /** @readonly */
    this.evolution = new Evolution(caller);
  }

  /**
   * Send any request to the gateway, with token and proof; answers as `fetch` itself does.
   * @param {string} path @param {RequestInit} [init] @returns {Promise<Response>}
   */
  fetch(path, init) {
    return this.caller.fetch(path, init);
  }

  /**
   * Give the base URL that the OpenAI SDK takes; the Anthropic SDK takes `baseUrl`.
   * @returns {string}
   */
  get apiUrl() {
    return `${this.baseUrl}/v1`;
  }

  /**
   * Give the gateway's address.
   * @returns {string}
   */
  get baseUrl() {
    return this.caller.transport.baseUrl;
  }

  /**
   * Make a `fetch` for an official SDK. Each call has one Idempotency-Key and is repeated here where that can help; an SDK
   * that repeats it after that does so with its key.
   * @param {import("./sdk_fetch.js").SdkOptions} options
   */
  sdkFetch(options) {
    return sdkFetch(this.caller, options);
  }

  /**
   * Tell who the token speaks for, and what it may do.
   * @returns {Promise<AccountView>}
   */
  account() {
    return this.caller.json("/v1/account");
  }

  /**
   * List the enabled models with their prices; `authorized` tells whether this token may use one.
   * @returns {Promise<Model[]>}
   */
  async models() {
    return (await this.caller.json("/v1/models")).data;
  }

  /** @param {string} id @returns {Promise<Model>} */
  model(id) {
    return this.caller.json(`/v1/models/${encodeURIComponent(id)}`);
  }

  /**
   * Give the wallet in micro-USD: balance, credits, held, available, debt.
   * @returns {Promise<Wallet>}
   */
  wallet() {
    return this.caller.json("/v1/wallet");
  }

  /**
   * List the latest usage records, newest first; `limit` is 1 to 100.
   * @param {{limit?: number}} [options] @returns {Promise<UsageRecord[]>}
   */
  async usage({ limit = 20 } = {}) {
    return (await this.caller.json(`/v1/usage?limit=${limit}`)).data;
  }

  /**
   * List the budgets that limit the token's calls, newest first. Needs `usage:read`.
   * @returns {Promise<AccountBudget[]>}
   */
  async budgets() {
    return (await this.caller.json("/v1/account/budgets")).data;
  }

  /**
   * Give one usage record, with the components of its charge and when it was sealed.
   * @param {string} usageId @returns {Promise<UsageDetail>}
   */
  usageRecord(usageId) {
    return this.caller.json(path`/v1/usage/${usageId}`);
  }

  /**
   * Give the signed receipt of a settled call; any other call is refused with `not_settled`.
   * @param {string} usageId @returns {Promise<string>}
   */
  async receipt(usageId) {
    return (await this.caller.json(path`/v1/usage/${usageId}/receipt`)).receipt;
  }

  /**
   * Fetch the keys that the gateway publishes for its receipts.
   * @returns {Promise<ReceiptKeys>}
   */
  receiptKeys() {
    const { baseUrl, send } = this.caller.transport;
    return fetchReceiptKeys(baseUrl, send);
  }

  /**
   * Give the claims of a receipt of this gateway, or throw InvalidReceipt. The keys are fetched where they are left out.
   * @param {string} receipt @param {ReceiptKeys} [keys] @returns {Promise<ReceiptClaims>}
   */
  async verifyReceipt(receipt, keys) {
    return verifyReceipt(receipt, keys ?? (await this.receiptKeys()), { issuer: this.caller.transport.baseUrl });
  }

  /**
   * Start a payment and give the address where the person confirms it.
   * @param {{amountMicros: number, idempotencyKey?: string}} body @returns {Promise<Checkout>}
   */
  checkout({ amountMicros, idempotencyKey = crypto.randomUUID() }) {
    return this.caller.json("/v1/billing/checkout", postJson({ amountMicros, idempotencyKey }));
  }

  /**
   * Get the 32 bytes that an account's devices share, made at the first request; `kid` names them. They travel encrypted.
   */
  accountKey() {
    return accountKey(this.caller);
  }

  /**
   * Ask for a chat completion, whole: `{data, receipt}`.
   * @param {object} body @param {CallOptions} options
   */
  chat(body, options) {
    return this.post(CHAT, body, options);
  }

  /**
   * Ask for a chat completion as a stream.
   * @param {object} body @param {CallOptions} options
   */
  chatStream(body, options) {
    return this.stream(CHAT, body, options);
  }

  /**
   * Ask for a response, whole: `{data, receipt}`; `responses` reads and deletes what is stored of it.
   * @param {object} body @param {CallOptions} options
   */
  respond(body, options) {
    return this.post(RESPONSES, body, options);
  }

  /**
   * Ask for a response as a stream.
   * @param {object} body @param {CallOptions} options
   */
  respondStream(body, options) {
    return this.stream(RESPONSES, body, options);
  }

  /**
   * Ask for a message, whole: `{data, receipt}`.
   * @param {object} body @param {CallOptions} options
   */
  message(body, options) {
    return this.post(MESSAGES, body, options);
  }

  /**
   * Ask for a message as a stream.
   * @param {object} body @param {CallOptions} options
   */
  messageStream(body, options) {
    return this.stream(MESSAGES, body, options);
  }

  /**
   * Count the input tokens of a message before it is sent. Not a metered call.
   * @param {object} body @returns {Promise<number>}
   */
  async countMessageTokens(body) {
    return (await this.caller.json(MESSAGE_TOKENS, postJson(body))).input_tokens;
  }

  /**
   * Ask for embeddings: `{data, receipt}`.
   * @param {object} body @param {CallOptions} options
   */
  embeddings(body, options) {
    return this.post(EMBEDDINGS, body, options);
  }

  /**
   * Ask for embeddings of chunks in the context of their documents: `{data, receipt}`.
   * @param {object} body @param {CallOptions} options
   */
  contextualEmbeddings(body, options) {
    return this.post(CONTEXTUAL_EMBEDDINGS, body, options);
  }

  /**
   * Have documents scored by late interaction: `{data, receipt}`.
   * @param {object} body @param {CallOptions} options
   */
  lateInteraction(body, options) {
    return this.post(LATE_INTERACTION, body, options);
  }

  /**
   * Ask for images, as base64: `{data, receipt}`.
   * @param {object} body @param {CallOptions} options
   */
  images(body, options) {
    return this.post(IMAGES, body, options);
  }

  /**
   * Ask for an image as a stream: partial images where `partial_images` says so, then the image.
   * @param {object} body @param {CallOptions} options
   */
  imageStream(body, options) {
    return this.stream(IMAGES, body, options);
  }

  /**
   * Ask for documents in the order of their relevance to a query: `{data, receipt}`.
   * @param {object} body @param {CallOptions} options
   */
  rerank(body, options) {
    return this.post(RERANK, body, options);
  }

  /**
   * Have a text spoken: `{data, receipt}` with the sound as a Blob. The receipt has no charge; the usage record has it.
   * Throws GatewayUnreachable where the sound breaks off.
   * @param {object} body @param {CallOptions} options @returns {Promise<Answer<Blob>>}
   */
  async speech(body, options) {
    const { response } = await metered.send(this.caller, SPEECH, body, options);
    return { data: await reach(() => response.blob(), "The gateway"), receipt: receiptOf(response.headers) };
  }

  /**
   * Have a file transcribed, a FormData with `file` and `model`: `{data, receipt}`.
   * @param {FormData} form @param {CallOptions} options
   */
  transcribe(form, options) {
    return this.post(TRANSCRIPTIONS, form, options);
  }

  /**
   * Have a file translated into English, likewise.
   * @param {FormData} form @param {CallOptions} options
   */
  translate(form, options) {
    return this.post(TRANSLATIONS, form, options);
  }

  /**
   * Ask typed questions about a state: `{data, receipt}`. `data.model` is the identity that thresholds belong to. Needs
   * `judgement:evaluate`.
   * @param {JudgementRequest} body @param {CallOptions} options @returns {Promise<Answer<Judgement>>}
   */
  judge(body, options) {
    return this.post(JUDGEMENT, body, options);
  }

  /**
   * Make a call of any metered route whose answer is JSON.
   * @template [T=any]
   * @param {string} path
   * @param {object | FormData} body
   * @param {CallOptions} options
   * @returns {Promise<Answer<T>>}
   */
  async post(path, body, options) {
    const { response } = await metered.send(this.caller, path, body, options);
    return { data: await readJson(response), receipt: receiptOf(response.headers) };
  }

  /**
   * Make a call of any metered route that streams.
   * @param {string} path @param {object} body @param {CallOptions} options
   */
  async stream(path, body, options) {
    const { response, idempotencyKey } = await metered.send(this.caller, path, { ...body, stream: true }, options);
    return new Stream(response, idempotencyKey);
  }

  /**
   * Open a live session over a WebSocket: hear its events with `for await`, say something with `send`. It is held for
   * its maximum, and what it used is charged once it is over. It renews its own token.
   * @param {import("./realtime.js").RealtimeOptions} options
   */
  connectRealtime(options) {
    return RealtimeSession.open(this.caller, options);
  }

  /**
   * Act for an organization: its wallet pays, its seats count. The token is renewed as long as access lasts.
   * @param {string} orgId @param {{product?: string}} [options] @returns {Account}
   */
  inOrganization(orgId, { product } = {}) {
    const fetch = async () => {
      const { access_token: value, expires_in } = await this.organizations.contextToken({ orgId, product });
      return { value, expiresInSeconds: expires_in };
    };
    const tokens = new CachedTokens(fetch, { renewBeforeSeconds: CONTEXT_RENEW_BEFORE_SECONDS });
    return new Account(new Caller(this.caller.transport, tokens));
  }
}
