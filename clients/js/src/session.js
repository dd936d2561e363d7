/** The session of this browser: an access token, and for a device session the credential that renews it. */

import { GatewayError, GatewayUnreachable, SignedOut } from "./errors.js";
import { KEY_RECORD } from "./keys.js";
import { exclusively } from "./locks.js";
import { SIGNED_IN, SIGNED_OUT } from "./notices.js";

const RECORD = "session";
const REFRESH_PATH = "/v1/public/device/token";
const REVOKE_PATH = "/v1/public/device/revoke";
const RENEW_BEFORE_MS = 30_000;
// The gateway gives the same successor to a retry within 10 seconds of the rotation, so a lost answer is asked for again
// well within them.
const RETRY_AFTER_MS = [250, 1000, 2500];

export class Session {
  /**
   * @param {object} parts
   * @param {import("./store.js").Store} parts.store
   * @param {import("./transport.js").Transport} parts.transport
   * @param {import("./notices.js").Notices} parts.notices
   */
  constructor({ store, transport, notices }) {
    this.store = store;
    this.transport = transport;
    this.notices = notices;
    this.lock = `account-gateway ${store.scope}`;
  }

  /**
   * Read the session that is kept, or undefined.
   * @returns {Promise<any>}
   */
  kept() {
    return this.store.read(RECORD);
  }

  /**
   * Keep a new grant; a device session that it replaces is ended.
   * @param {any} grant the token response
   */
  async open(grant) {
    const previous = await exclusively(this.lock, async () => {
      const before = await this.kept();
      await this.store.write(RECORD, recordOf(grant));
      return before;
    });
    if (previous?.refreshToken) await this.#revoke(previous.refreshToken).catch(() => undefined);
    this.notices.tell(SIGNED_IN);
  }

  /**
   * Give a live access token, renewing it in time. Throws SignedOut where there is none to be had.
   * @returns {Promise<string>}
   */
  async token() {
    const record = await this.kept();
    return isLive(record) ? record.accessToken : this.renew();
  }

  /**
   * Give another token than the one that was refused. However many tabs ask at once, one refreshes and the others take
   * what it got.
   * @param {string} [refused]
   * @param {string[]} [scopes] what the new token may do, of what was granted; all of it where left out
   * @returns {Promise<string>}
   */
  renew(refused, scopes) {
    return exclusively(this.lock, async () => {
      const record = await this.kept();
      if (isLive(record) && record.accessToken !== refused) return record.accessToken;
      if (!record?.refreshToken) return this.#end();
      return this.#rotate(record.refreshToken, scopes);
    });
  }

  /**
   * Forget session and key, here and at the gateway. Throws GatewayUnreachable where the gateway could not be told: the
   * device then stays listed in the portal until it is revoked there or ends.
   */
  async close() {
    await exclusively(this.lock, async () => {
      const record = await this.kept();
      try {
        if (record?.refreshToken) await this.#revoke(record.refreshToken);
      } finally {
        await this.#forget();
      }
    });
  }

  /**
   * Rotate the credential and keep its successor before anything else uses it.
   * @param {string} refreshToken @param {string[]} [scopes]
   */
  async #rotate(refreshToken, scopes) {
    const narrowed = scopes && { scope: scopes.join(" ") };
    const body = { grant_type: "refresh_token", refresh_token: refreshToken, ...narrowed };
    let grant;
    try {
      grant = await persistently(() => this.transport.json(REFRESH_PATH, postJson(body)));
    } catch (error) {
      if (error instanceof GatewayError && error.code === "invalid_grant") return this.#end();
      throw error;
    }
    await this.store.write(RECORD, recordOf(grant));
    return grant.access_token;
  }

  #revoke(refreshToken) {
    return this.transport.json(REVOKE_PATH, postJson({ refresh_token: refreshToken }));
  }

  /** @returns {Promise<never>} */
  async #end() {
    if (await this.kept()) await this.#forget();
    throw new SignedOut();
  }

  async #forget() {
    await this.store.remove(RECORD, KEY_RECORD);
    this.notices.tell(SIGNED_OUT);
  }
}

/**
 * Describe a POST of JSON.
 * @param {unknown} body @returns {RequestInit}
 */
export function postJson(body) {
  return { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) };
}

function recordOf(grant) {
  return {
    accessToken: grant.access_token,
    expiresAt: Date.now() + grant.expires_in * 1000,
    scope: grant.scope,
    refreshToken: grant.refresh_token,
    device: grant.device_session,
  };
}

function isLive(record) {
  const margin = record?.refreshToken ? RENEW_BEFORE_MS : 0;
  return Boolean(record) && Date.now() < record.expiresAt - margin;
}

/** Try again while nobody answers. */
async function persistently(act) {
  for (const pause of RETRY_AFTER_MS) {
    try {
      return await act();
    } catch (error) {
      if (!(error instanceof GatewayUnreachable)) throw error;
    }
    await new Promise((resolve) => setTimeout(resolve, pause));
  }
  return act();
}
