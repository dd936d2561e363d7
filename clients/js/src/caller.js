/** Makes requests as somebody: with an access token that renews itself. */

import { GatewayError } from "./errors.js";
import { readJson } from "./transport.js";

/** @import {Freshness} from "./freshness.js" */
/** @import {ProofKey} from "./keys.js" */

/**
 * @typedef {object} Tokens
 * @property {() => Promise<string>} token gives a live token
 * @property {(refused: string) => Promise<string>} renew gives another one than the one that was refused
 */

/**
 * Whatever gives access tokens that are bound to a key. `freshness` is shared by all that speak to the same gateway.
 * @typedef {Tokens & {proofKey: () => Promise<ProofKey>, freshness?: Freshness}} TokenSource
 */

export class Caller {
  /** @param {import("./transport.js").Transport} transport @param {Tokens} tokens */
  constructor(transport, tokens) {
    this.transport = transport;
    this.tokens = tokens;
  }

  /**
   * Send a request with token and proof, once more with another token where the first was refused.
   * @param {string} path @param {RequestInit} [init] @returns {Promise<Response>}
   */
  async fetch(path, init) {
    const token = await this.tokens.token();
    const response = await this.transport.request(path, init, token);
    if (response.status !== 401) return response;
    const { code } = await GatewayError.from(response.clone());
    if (code !== "invalid_token") return response;
    return this.transport.request(path, init, await this.tokens.renew(token));
  }

  /**
   * Send a request as `fetch` does and read its JSON, or throw GatewayError.
   * @param {string} path @param {RequestInit} [init] @returns {Promise<any>}
   */
  async json(path, init) {
    return readJson(await this.fetch(path, init));
  }
}
