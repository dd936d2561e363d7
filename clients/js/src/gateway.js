/** One gateway, for the person at this browser: sign in, stay signed in, sign out, and everything an account can do. */

import { Account } from "./account.js";
import * as attempts from "./attempt.js";
import { cleaned, isCallback, readCode } from "./callback.js";
import { Caller } from "./caller.js";
import { randomText } from "./encoding.js";
import { ProofKey } from "./keys.js";
import { Notices, SIGNED_IN, SIGNED_OUT } from "./notices.js";
import { newPkce } from "./pkce.js";
import { postJson, Session } from "./session.js";
import { Store } from "./store.js";
import { Transport } from "./transport.js";

const TOKEN_PATH = "/v1/public/token";

/**
 * @typedef {object} GatewayOptions
 * @property {string} url the gateway's address, which is also its issuer
 * @property {string} [portalUrl] where people sign in; the gateway's own address where left out
 * @property {string} [clientId] this app's origin where left out
 * @property {string} [redirectUri] the page that finishes signing in; this one where left out
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
  /** @param {GatewayOptions} options */
  constructor({ url, portalUrl = url, clientId = location.origin, redirectUri = here(), fetch }) {
    const baseUrl = url.replace(/\/$/, "");
    const store = new Store(`${baseUrl} ${clientId}`);
    const notices = new Notices(`account-gateway ${store.scope}`);
    const transport = new Transport({ baseUrl, key: () => ProofKey.kept(store), fetch });
    const session = new Session({ store, transport, notices });
    super(new Caller(transport, session));
    /** @private */
    this.url = baseUrl;
    /** @private */
    this.portalUrl = portalUrl.replace(/\/$/, "");
    /** @private */
    this.clientId = clientId;
    /** @private */
    this.redirectUri = redirectUri;
    /** @private */
    this.transport = transport;
    /** @private */
    this.session = session;
    /** @private */
    this.notices = notices;
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
    const [{ verifier, challenge }, key] = await Promise.all([newPkce(), this.transport.key()]);
    const attempt = { state: randomText(), verifier, redirectUri: this.redirectUri, startedAt: Date.now() };
    attempts.keep({ ...attempt, deviceSession, deviceName, returnTo });
    const parameters = {
      response_type: "code",
      client_id: this.clientId,
      redirect_uri: this.redirectUri,
      code_challenge_method: "S256",
      code_challenge: challenge,
      dpop_jkt: key.thumbprint,
      scope: scopes.join(" "),
      state: attempt.state,
      ...(product && { product }),
      ...(theme && { theme }),
    };
    return `${this.portalUrl}/authorize?${new URLSearchParams(parameters)}`;
  }

  /**
   * Finish signing in where this page was opened by the portal's answer; null where it was not.
   *
   * The answer is taken out of the address bar before anything else. Throws SignInError where it was not expected, not
   * ours, or a refusal, and GatewayError where the code is refused. A session that is open already stays as it is then.
   * @returns {Promise<{scope: string, returnTo?: string} | null>}
   */
  async completeSignIn() {
    const url = new URL(location.href);
    if (!isCallback(url)) return null;
    history.replaceState(history.state, "", cleaned(url));
    const attempt = attempts.take();
    const code = readCode(url, attempt, this.url);
    const grant = await this.#redeem(code, attempt);
    await this.session.open(grant);
    return { scope: grant.scope, returnTo: attempt?.returnTo };
  }

  /** Tell whether somebody is signed in, as far as this browser knows. */
  async isSignedIn() {
    const kept = await this.session.kept();
    return Boolean(kept && (kept.refreshToken || Date.now() < kept.expiresAt));
  }

  /**
   * Describe the device session that is kept here, without its credentials; null where there is none.
   * @returns {Promise<{id: string, name: string, expiresAt: Date} | null>}
   */
  async device() {
    const device = (await this.session.kept())?.device;
    return device ? { id: device.id, name: device.name, expiresAt: new Date(device.expires_at * 1000) } : null;
  }

  /**
   * Renew the access token now, though it may still be good.
   * @param {{scopes?: string[]}} [options] narrower scopes hold until the next refresh; the grant itself stays whole
   */
  async refresh({ scopes } = {}) {
    await this.session.renew((await this.session.kept())?.accessToken, scopes);
  }

  /** Sign out: the device session ends at the gateway, and key and session are forgotten here, in every tab. */
  signOut() {
    return this.session.close();
  }

  /**
   * Listen for a sign-in in any tab; the function that is returned ends it.
   * @param {() => void} listener
   */
  onSignedIn(listener) {
    return this.notices.on(SIGNED_IN, listener);
  }

  /**
   * Listen for the end of the session: signed out in any tab, revoked in the portal, or expired.
   * @param {() => void} listener
   */
  onSignedOut(listener) {
    return this.notices.on(SIGNED_OUT, listener);
  }

  /** Trade the code. Sent once: a code that comes back ends what its first use gave. */
  async #redeem(code, attempt) {
    const { jwk } = await this.transport.key();
    const body = {
      code,
      code_verifier: attempt.verifier,
      client_id: this.clientId,
      redirect_uri: attempt.redirectUri,
      dpop_jwk: jwk,
      device_session: attempt.deviceSession,
      ...(attempt.deviceName && { device_name: attempt.deviceName }),
    };
    return this.transport.json(TOKEN_PATH, postJson(body));
  }
}

function here() {
  return location.origin + location.pathname;
}
