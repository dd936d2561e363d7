/** A product's server: signs assertions about its accounts and exchanges them for tokens. */

import { CachedTokens } from "./cached_tokens.js";
import { randomText } from "./encoding.js";
import { GatewayError, GatewayUnreachable } from "./errors.js";
import { Freshness } from "./freshness.js";
import { ProofKey } from "./keys.js";
import { postJson } from "./session.js";
import { GUARDED, reach, readJson, unmoved } from "./transport.js";

/** @import {AccessToken} from "./cached_tokens.js" */
/** @import {TokenSource} from "./caller.js" */

const EXCHANGE_PATH = "/v1/auth/token/exchange";
const ASSERTION_SECONDS = 60;
const TIMEOUT_SECONDS = 10;
const SOURCES_MAX = 1000;

/**
 * @typedef {object} ProductOptions
 * @property {string} url the gateway's address
 * @property {string} issuer as in the product's integration at the gateway
 * @property {string} product
 * @property {import("./product_key.js").ProductKey} key
 * @property {string} [audience] the gateway's address where left out
 * @property {string} [kid] the key's id in the integration; its thumbprint where left out
 * @property {number} [timeoutSeconds] of an exchange; 10 where left out
 * @property {typeof globalThis.fetch} [fetch]
 */

/**
 * @typedef {object} TokenOptions
 * @property {ProofKey} [proofKey] what the tokens are bound to; a new one where left out
 * @property {string[]} [consents] what the product has the person's consent to: `realtime`
 */

export class ProductServer {
  #key;
  #claims;
  #kid;
  #timeoutSeconds;
  #send;
  #freshness = new Freshness();
  /** @type {Map<string, TokenSource>} */
  #sources = new Map();

  /** @param {ProductOptions} options */
  constructor({ url, issuer, product, key, audience, kid, timeoutSeconds = TIMEOUT_SECONDS, fetch }) {
    /** @readonly */
    this.url = url.replace(/\/$/, "");
    this.#claims = { iss: issuer, aud: audience ?? this.url, product };
    this.#key = key;
    this.#kid = kid ?? key.kid;
    this.#timeoutSeconds = timeoutSeconds;
    this.#send = fetch ?? globalThis.fetch.bind(globalThis);
  }

  /**
   * Give the tokens of one account of the product. Whoever asks for the same account and capabilities gets the same
   * tokens, which are exchanged when they are first needed; the thousand that were used last are kept.
   * @param {string} did @param {string[]} capabilities @param {TokenOptions} [options] @returns {TokenSource}
   */
  tokensFor(did, capabilities, { proofKey, consents = [] } = {}) {
    if (proofKey) return this.#newTokens(did, capabilities, consents, proofKey);
    const name = JSON.stringify([did, capabilities, consents]);
    const tokens = this.#sources.get(name) ?? this.#newTokens(did, capabilities, consents);
    this.#sources.delete(name);
    this.#sources.set(name, tokens);
    if (this.#sources.size > SOURCES_MAX) this.#sources.delete(this.#sources.keys().next().value ?? "");
    return tokens;
  }

  /**
   * Sign an assertion that serves once, within a minute, and only for the holder of the proof key.
   * @param {string} did @param {string[]} capabilities @param {ProofKey} proofKey @param {string[]} [consents]
   * @returns {Promise<string>}
   */
  assertion(did, capabilities, proofKey, consents = []) {
    const issuedAt = Math.floor(this.#freshness.now());
    const claims = {
      ...this.#claims,
      sub: did,
      capabilities,
      iat: issuedAt,
      exp: issuedAt + ASSERTION_SECONDS,
      jti: randomText(),
      cnf: { jkt: proofKey.thumbprint },
      ...(consents.length && { consents }),
    };
    return this.#key.signJwt({ typ: "JWT", kid: this.#kid }, claims);
  }

  /**
   * Exchange an assertion for a token; the public half of the proof key alone is sent. Throws GatewayError where it is
   * refused, GatewayUnreachable without an answer in time.
   * @param {string} assertion @param {ProofKey} proofKey @returns {Promise<AccessToken>}
   */
  exchange(assertion, proofKey) {
    return inTime(async () => tokenIn(await readJson(await this.#post(assertion, proofKey))));
  }

  /**
   * @param {string} did @param {string[]} capabilities @param {string[]} consents @param {ProofKey} [proofKey]
   * @returns {TokenSource}
   */
  #newTokens(did, capabilities, consents, proofKey) {
    /** @type {Promise<ProofKey> | undefined} */
    let kept = proofKey && Promise.resolve(proofKey);
    const key = () => (kept ??= ProofKey.generate());
    const cached = new CachedTokens(async () => this.#newToken(did, capabilities, await key(), consents));
    const [token, renew] = [() => cached.token(), (refused) => cached.renew(refused)];
    return { proofKey: key, token, renew, freshness: this.#freshness };
  }

  /** Fetch a token; with the gateway's time, once more, where this machine's clock is what was wrong. */
  #newToken(did, capabilities, proofKey, consents) {
    const post = async () => this.#post(await this.assertion(did, capabilities, proofKey, consents), proofKey);
    return inTime(async () => {
      let response = await post();
      if (response.status === 400 && this.#freshness.learnTime(response.headers)) response = await post();
      return tokenIn(await readJson(response));
    });
  }

  async #post(assertion, { jwk }) {
    const signal = AbortSignal.timeout(this.#timeoutSeconds * 1000);
    const init = { ...postJson({ assertion, dpop_jwk: jwk }), ...GUARDED, signal };
    return unmoved(await reach(() => this.#send(this.url + EXCHANGE_PATH, init), this.url));
  }
}

/** @returns {AccessToken} */
function tokenIn(body) {
  const { access_token: value, expires_in: expiresInSeconds } = body ?? {};
  if (typeof value !== "string" || typeof expiresInSeconds !== "number") throw GatewayError.of(200, body);
  return { value, expiresInSeconds };
}

/**
 * Tell a time-out as what it is to a caller: a gateway that did not answer.
 * @template T @param {() => Promise<T>} act @returns {Promise<T>}
 */
async function inTime(act) {
  try {
    return await act();
  } catch (error) {
    if (!(error instanceof DOMException)) throw error;
    throw new GatewayUnreachable("The gateway did not answer an exchange in time.", { cause: error });
  }
}
