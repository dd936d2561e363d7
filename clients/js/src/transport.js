/** Carries requests to the gateway, each with a proof of its own. RFC 9449 sections 7 and 8. */

import { Freshness } from "./freshness.js";
import { ForeignOrigin, GatewayError, GatewayUnreachable } from "./errors.js";
import { dpopProof } from "./proof.js";

const NONCE = "DPoP-Nonce";

/** Redirects are not followed: a proof serves for one address. Cookies stay at home. */
export const GUARDED = supported({ redirect: "manual", credentials: "omit", cache: "no-store" });

export class Transport {
  /**
   * @param {object} options
   * @param {string} options.baseUrl
   * @param {() => Promise<import("./keys.js").ProofKey>} options.key
   * @param {typeof globalThis.fetch} [options.fetch]
   * @param {Freshness} [options.freshness]
   */
  constructor({ baseUrl, key, fetch = globalThis.fetch.bind(globalThis), freshness = new Freshness() }) {
    this.baseUrl = baseUrl;
    this.key = key;
    this.freshness = freshness;
    this.send = fetch;
  }

  /**
   * Send a request with a proof, and an access token where one is given. A proof that is refused for its nonce or its
   * time is made again, once each. An answer of whatever status is returned, except a redirect, which is a GatewayError;
   * GatewayUnreachable is thrown without one.
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
    const { nonce } = this.freshness;
    const proven = { method, url, now: this.freshness.now(), accessToken, nonce };
    headers.set("DPoP", await dpopProof(await this.key(), proven));
    if (accessToken !== undefined) headers.set("Authorization", `DPoP ${accessToken}`);
    const response = await reach(() => this.send(url, { ...init, ...GUARDED, method, headers }), this.baseUrl, init.signal);
    this.freshness.learnNonce(response.headers);
    return unmoved(response);
  }

  /** Name what makes another proof worth trying, or undefined. */
  async #remedy(response) {
    if (response.status !== 400 && response.status !== 401) return undefined;
    const { code } = await GatewayError.from(response.clone());
    if (code === "use_dpop_nonce" && response.headers.has(NONCE)) return "nonce";
    return code === "invalid_dpop_proof" && this.freshness.learnTime(response.headers) ? "clock" : undefined;
  }
}

/**
 * Read an answer's JSON; undefined where there is no content. Throws GatewayError for a refusal, and for what is not JSON.
 * @param {Response} response @returns {Promise<any>}
 */
export async function readJson(response) {
  if (!response.ok) throw await GatewayError.from(response);
  if (response.status === 204) return undefined;
  const text = await reach(() => response.text(), "The gateway");
  try {
    return JSON.parse(text);
  } catch {
    throw GatewayError.of(response.status, null);
  }
}

/**
 * Await what may fail on the way; what the caller aborted fails with the reason of the signal.
 * @template T @param {() => Promise<T>} act @param {string} where @param {AbortSignal | null} [signal] @returns {Promise<T>}
 */
export async function reach(act, where, signal = null) {
  try {
    return await act();
  } catch (error) {
    if (signal?.aborted) throw signal.reason;
    if (error instanceof DOMException && ["AbortError", "TimeoutError"].includes(error.name)) throw error;
    throw new GatewayUnreachable(`${where} did not respond.`, { cause: error });
  }
}

/**
 * Give an answer, or throw GatewayError for a redirect, of which a browser shows nothing.
 * @param {Response} response
 */
export function unmoved(response) {
  if (response.type !== "opaqueredirect" && (response.status < 300 || response.status > 399)) return response;
  const message = "The answer is a redirect, which is not followed. Is this the gateway's address?";
  throw new GatewayError(response.status, { code: "redirected", message });
}

/** Leave out what the `fetch` of this place does not know: a worker has no cookies and no cache. */
function supported(init) {
  const known = Object.entries(init).filter(([name, value]) => {
    try {
      return new Request("https://gateway.invalid", { [name]: value });
    } catch {
      return false;
    }
  });
  return /** @type {RequestInit} */ (Object.fromEntries(known));
}
