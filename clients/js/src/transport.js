/** Carries requests to the gateway, each with a proof of its own. RFC 9449 sections 7 and 8. */

import { Clock } from "./clock.js";
import { ForeignOrigin, GatewayError, GatewayUnreachable } from "./errors.js";
import { dpopProof } from "./proof.js";

const NONCE = "DPoP-Nonce";

export class Transport {
  /**
   * @param {object} options
   * @param {string} options.baseUrl
   * @param {() => Promise<import("./keys.js").ProofKey>} options.key
   * @param {typeof fetch} [options.fetch]
   */
  constructor({ baseUrl, key, fetch = globalThis.fetch.bind(globalThis) }) {
    this.baseUrl = baseUrl;
    this.key = key;
    this.clock = new Clock();
    this.nonce = undefined;
    this.send = fetch;
  }

  /**
   * Send a request with a proof, and an access token where one is given. A proof that is refused for its nonce or its
   * time is made again, once each. An answer of whatever status is returned; GatewayUnreachable is thrown without one.
   * @param {string} path a path of the gateway, or its absolute URL
   * @param {RequestInit} [init]
   * @param {string} [accessToken]
   * @returns {Promise<Response>}
   */
  async request(path, init = {}, accessToken = undefined) {
    const url = this.#resolve(path);
    let response = await this.#attempt(url, init, accessToken);
    const tried = new Set();
    for (let reason = await this.#remedy(response); reason && !tried.has(reason); reason = await this.#remedy(response)) {
      tried.add(reason);
      response = await this.#attempt(url, init, accessToken);
    }
    return response;
  }

  /**
   * Send a request as `request` does and read its JSON, or throw GatewayError.
   * @param {string} path @param {RequestInit} [init] @param {string} [accessToken] @returns {Promise<any>}
   */
  async json(path, init, accessToken) {
    return readJson(await this.request(path, init, accessToken));
  }

  #resolve(path) {
    const url = new URL(path.startsWith("/") ? this.baseUrl + path : path);
    if (url.origin !== new URL(this.baseUrl).origin) {
      throw new ForeignOrigin(`Tokens are sent only to ${this.baseUrl}, not to ${url.origin}.`);
    }
    return url.href;
  }

  async #attempt(url, init, accessToken) {
    const method = init.method ?? "GET";
    const headers = new Headers(init.headers);
    const proven = { method, url, now: this.clock.now(), accessToken, nonce: this.nonce };
    headers.set("DPoP", await dpopProof(await this.key(), proven));
    if (accessToken !== undefined) headers.set("Authorization", `DPoP ${accessToken}`);
    // Redirects are not followed: a proof serves for one address. Cookies stay at home.
    const options = { redirect: "error", credentials: "omit", cache: "no-store", ...init, method, headers };
    const response = await reach(() => this.send(url, /** @type {RequestInit} */ (options)), this.baseUrl);
    this.nonce = response.headers.get(NONCE) ?? this.nonce;
    return response;
  }

  /** Name what makes another proof worth trying, or undefined. */
  async #remedy(response) {
    if (response.status !== 400 && response.status !== 401) return undefined;
    const { code } = await GatewayError.from(response.clone());
    if (code === "use_dpop_nonce" && response.headers.has(NONCE)) return "nonce";
    return code === "invalid_dpop_proof" && this.clock.learn(response) ? "clock" : undefined;
  }
}

/**
 * Read an answer's JSON; undefined where there is no content. Throws GatewayError for a refusal.
 * @param {Response} response @returns {Promise<any>}
 */
export async function readJson(response) {
  if (!response.ok) throw await GatewayError.from(response);
  if (response.status === 204) return undefined;
  return reach(() => response.json(), "The gateway");
}

/**
 * Await what may fail on the way; what the caller aborted stays an AbortError.
 * @template T @param {() => Promise<T>} act @param {string} where @returns {Promise<T>}
 */
export async function reach(act, where) {
  try {
    return await act();
  } catch (error) {
    if (error instanceof DOMException && ["AbortError", "TimeoutError"].includes(error.name)) throw error;
    throw new GatewayUnreachable(`${where} did not respond.`, { cause: error });
  }
}
