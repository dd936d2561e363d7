/** One gateway: everything an account can do, with tokens of a product's server or of a person who signs in here. */

import { Account } from "./account.js";
import { cleaned, isCallback, readCode } from "./callback.js";
import { Caller } from "./caller.js";
import { randomText } from "./encoding.js";
import { SIGNED_IN, SIGNED_OUT } from "./notices.js";
import { personAt } from "./person.js";
import { newPkce } from "./pkce.js";
import { postJson } from "./session.js";
import { Transport } from "./transport.js";

/** @import {TokenSource} from "./caller.js" */
/** @import {ProofKey} from "./keys.js" */
/** @import {Person} from "./person.js" */
/** @import {Store} from "./store.js" */

const TOKEN_PATH = "/v1/public/token";

/**
 * On a server, give `tokens`. In a page the address is enough. A program that signs people in elsewhere gives `clientId`
 * and `redirectUri`, and a store for each person.
 * @typedef {object} GatewayOptions
 * @property {string} url the gateway's address, which is also its issuer
 * @property {TokenSource} [tokens] whose account this is; without them a person signs in here
 * @property {string} [portalUrl] where people sign in; the gateway's own address where left out
 * @property {string} [clientId] this page's origin where left out
 * @property {string} [redirectUri] the page that finishes signing in; this one where left out
 * @property {Store} [store] where the sign-in is kept: in a page IndexedDB, elsewhere memory where left out
 * @property {ProofKey} [proofKey] what tokens are bound to; one that the store keeps where left out
 * @property {typeof globalThis.fetch} [fetch]
 */

/**
 * @typedef {object} SignInOptions
 * @property {string[]} scopes
 * @property {boolean} [deviceSession] whether to stay signed in, for 30 days; true where left out
 * @property {string} [deviceName] how the portal lists this device, 1 to 120 characters
 * @property {string} [returnTo] handed back by `completeSignIn`
 * @property {string} [product] the look of the portal
 * @property {"light" | "dark"} [theme] the look of the portal
 */

export class Gateway extends Account {
  /** @type {Person | undefined} */
  #person;

  /** @param {GatewayOptions} options */
  constructor({ url, tokens, fetch, ...options }) {
    const baseUrl = url.replace(/\/$/, "");
    if (tokens) {
      const { proofKey: key, freshness } = tokens;
      super(new Caller(new Transport({ baseUrl, key, fetch, freshness }), tokens));
    } else {
      const person = personAt(baseUrl, fetch, options);
      super(new Caller(person.transport, person.session));
      this.#person = person;
    }
  }

  /**
   * Go to the portal to sign in; this page is left.
   * @param {SignInOptions} options
   */
  async signIn(options) {
    location.assign(await this.beginSignIn(options));
  }

  /**
   * Begin to sign in and give the address to go to.
   * @param {SignInOptions} options @returns {Promise<string>}
   */
  async beginSignIn({ scopes, deviceSession = true, deviceName, returnTo, product, theme }) {
    const { transport, clientId, redirectUri, portalUrl, attempts } = this.#signingIn;
    const [{ verifier, challenge }, key] = await Promise.all([newPkce(), transport.key()]);
    const attempt = { state: randomText(), verifier, redirectUri, startedAt: Date.now() };
    await attempts.keep({ ...attempt, deviceSession, deviceName, returnTo });
    const parameters = {
      response_type: "code",
      client_id: clientId,
      redirect_uri: redirectUri,
      code_challenge_method: "S256",
      code_challenge: challenge,
      dpop_jkt: key.thumbprint,
      scope: scopes.join(" "),
      state: attempt.state,
      ...(product && { product }),
      ...(theme && { theme }),
    };
    return `${portalUrl}/authorize?${new URLSearchParams(parameters)}`;
  }

  /**
   * Finish signing in where this page, or the address that is given, was opened by the portal's answer; null where it was
   * not.
   *
   * The answer is taken out of the address bar before anything else. Throws SignInError where it was not expected, not
   * ours, or a refusal, and GatewayError where the code is refused. A session that is open already stays as it is then.
   * @param {string | URL} [address] where a program other than a page was called back
   * @returns {Promise<{scope: string, returnTo?: string} | null>}
   */
  async completeSignIn(address) {
    const { transport, session, attempts } = this.#signingIn;
    const url = new URL(address ?? location.href);
    if (!isCallback(url)) return null;
    if (address === undefined) history.replaceState(history.state, "", cleaned(url));
    const attempt = await attempts.take();
    const code = readCode(url, attempt, transport.baseUrl);
    const grant = await this.#redeem(code, attempt);
    await session.open(grant);
    return { scope: grant.scope, returnTo: attempt?.returnTo };
  }

  /** Tell whether somebody is signed in, as far as this browser knows. */
  async isSignedIn() {
    const kept = await this.#signingIn.session.kept();
    return Boolean(kept && (kept.refreshToken || Date.now() < kept.expiresAt));
  }

  /**
   * Describe the device session that is kept here, without its credentials; null where there is none.
   * @returns {Promise<{id: string, name: string, expiresAt: Date} | null>}
   */
  async device() {
    const device = (await this.#signingIn.session.kept())?.device;
    return device ? { id: device.id, name: device.name, expiresAt: new Date(device.expires_at * 1000) } : null;
  }

  /**
   * Renew the access token now, though it may still be good.
   * @param {{scopes?: string[]}} [options] narrower scopes hold until the next refresh; the grant itself stays whole
   */
  async refresh({ scopes } = {}) {
    await this.#signingIn.session.renew((await this.#signingIn.session.kept())?.accessToken, scopes);
  }

  /** Sign out: the device session ends at the gateway, and key and session are forgotten here, in every tab. */
  signOut() {
    return this.#signingIn.session.close();
  }

  /**
   * Listen for a sign-in in any tab; the function that is returned ends it.
   * @param {() => void} listener
   */
  onSignedIn(listener) {
    return this.#signingIn.notices.on(SIGNED_IN, listener);
  }

  /**
   * Listen for the end of the session: signed out in any tab, revoked in the portal, or expired.
   * @param {() => void} listener
   */
  onSignedOut(listener) {
    return this.#signingIn.notices.on(SIGNED_OUT, listener);
  }

  /** Trade the code. Sent once: a code that comes back ends what its first use gave. */
  async #redeem(code, attempt) {
    const { transport, clientId } = this.#signingIn;
    const { jwk } = await transport.key();
    const body = {
      code,
      code_verifier: attempt.verifier,
      client_id: clientId,
      redirect_uri: attempt.redirectUri,
      dpop_jwk: jwk,
      device_session: attempt.deviceSession,
      ...(attempt.deviceName && { device_name: attempt.deviceName }),
    };
    return transport.json(TOKEN_PATH, postJson(body));
  }

  get #signingIn() {
    if (!this.#person) throw new TypeError("This gateway was given tokens, so nobody signs in here.");
    return this.#person;
  }
}
