/** The person who signs in at this place: in a page, or in a program that is called back. */

import { inStore, inTab } from "./attempt.js";
import { ProofKey } from "./keys.js";
import { Notices } from "./notices.js";
import { Session } from "./session.js";
import { storeHere } from "./store.js";
import { Transport } from "./transport.js";

/** @import {GatewayOptions} from "./gateway.js" */

/**
 * A person who signs in here.
 * @typedef {object} Person
 * @property {string} portalUrl
 * @property {string} clientId
 * @property {string} redirectUri
 * @property {import("./attempt.js").Attempts} attempts
 * @property {Notices} notices
 * @property {Transport} transport
 * @property {Session} session
 */

/**
 * Put together what a sign-in here needs. Throws TypeError outside of a page, where it is not known who asks.
 * @param {string} baseUrl @param {typeof globalThis.fetch | undefined} fetch
 * @param {Omit<GatewayOptions, "url" | "tokens" | "fetch">} options @returns {Person}
 */
export function personAt(baseUrl, fetch, { portalUrl = baseUrl, clientId = pageOrigin(), redirectUri = page(), ...kept }) {
  const store = kept.store ?? storeHere(`${baseUrl} ${clientId}`);
  const notices = new Notices("indexedDB" in globalThis ? `account-gateway ${store.scope}` : undefined);
  const key = kept.proofKey ? async () => /** @type {ProofKey} */ (kept.proofKey) : () => ProofKey.kept(store);
  const transport = new Transport({ baseUrl, key, fetch });
  const session = new Session({ store, transport, notices });
  const trying = "document" in globalThis ? inTab() : inStore(store);
  return { portalUrl: portalUrl.replace(/\/$/, ""), clientId, redirectUri, attempts: trying, notices, transport, session };
}

function pageOrigin() {
  if (globalThis.location) return location.origin;
  throw new TypeError("This is not a page: give tokens, or the clientId and redirectUri with which people sign in here.");
}

function page() {
  return globalThis.location ? location.origin + location.pathname : "";
}
