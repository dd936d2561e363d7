/** The routes of organizations, one method each. What a role may do, the gateway decides. */

import { postJson } from "./session.js";

export class Organizations {
  /** @param {import("./caller.js").Caller} caller */
  constructor(caller) {
    this.caller = caller;
  }

  list() {
    return this.#get("/v1/organizations");
  }

  create({ name }) {
    return this.#post("/v1/organizations", { name });
  }

  get(orgId) {
    return this.#get(path`/v1/organizations/${orgId}`);
  }

  members(orgId) {
    return this.#get(path`/v1/organizations/${orgId}/members`);
  }

  changeRole(orgId, membershipId, { role }) {
    return this.#put(path`/v1/organizations/${orgId}/members/${membershipId}`, { role });
  }

  removeMember(orgId, membershipId) {
    return this.#delete(path`/v1/organizations/${orgId}/members/${membershipId}`);
  }

  invitations(orgId) {
    return this.#get(path`/v1/organizations/${orgId}/invitations`);
  }

  /** The token in the answer is shown this once. */
  invite(orgId, { role, email }) {
    return this.#post(path`/v1/organizations/${orgId}/invitations`, { role, email });
  }

  revokeInvitation(orgId, invitationId) {
    return this.#delete(path`/v1/organizations/${orgId}/invitations/${invitationId}`);
  }

  acceptInvitation({ token }) {
    return this.#post("/v1/org-invitations/accept", { token });
  }

  products(orgId) {
    return this.#get(path`/v1/organizations/${orgId}/products`);
  }

  enableProduct(orgId, product) {
    return this.#put(path`/v1/organizations/${orgId}/products/${product}`);
  }

  disableProduct(orgId, product) {
    return this.#delete(path`/v1/organizations/${orgId}/products/${product}`);
  }

  setMaxSeats(orgId, product, { maxSeats }) {
    return this.#put(path`/v1/organizations/${orgId}/products/${product}/max-seats`, { maxSeats });
  }

  clearMaxSeats(orgId, product) {
    return this.#delete(path`/v1/organizations/${orgId}/products/${product}/max-seats`);
  }

  /**
   * @param {string} orgId
   * @param {{product?: string}} [filter]
   */
  seats(orgId, { product } = {}) {
    return this.#get(path`/v1/organizations/${orgId}/seats` + query({ product }));
  }

  assignSeat(orgId, product, membershipId) {
    return this.#put(path`/v1/organizations/${orgId}/products/${product}/seats/${membershipId}`);
  }

  revokeSeat(orgId, product, membershipId) {
    return this.#delete(path`/v1/organizations/${orgId}/products/${product}/seats/${membershipId}`);
  }

  /**
   * The decision as of now; a denial is an answer, not an error.
   * @param {string} orgId
   * @param {{product?: string}} [filter]
   */
  access(orgId, { product } = {}) {
    return this.#get(path`/v1/organizations/${orgId}/access` + query({ product }));
  }

  /**
   * Begin a payment, or the keeping of a payment method; the person confirms it at the answer's `url`. The same
   * `idempotencyKey` gives the same transaction: keep your own where a reload must not begin another.
   * @param {string} orgId
   * @param {import("./index.js").OrganizationCheckout} body
   */
  checkout(orgId, { kind = "top_up", amountMicros, product, idempotencyKey = crypto.randomUUID() }) {
    const body = { kind, amountMicros, product, idempotencyKey };
    return this.#post(path`/v1/organizations/${orgId}/billing/checkout`, body);
  }

  /** Leave a product's seats to the provider that bills them already, once it confirms so. */
  mapExternalBilling(orgId, { product, provider, externalOrgId, mode }) {
    const body = { product, provider, externalOrgId, mode };
    return this.#post(path`/v1/organizations/${orgId}/billing/external-mapping`, body);
  }

  /**
   * A token that acts for the organization; `gateway.inOrganization` uses and renews it for you.
   * @param {{orgId: string, product?: string}} context
   */
  contextToken({ orgId, product }) {
    return this.#post("/v1/auth/context", { orgId, product });
  }

  #get(address) {
    return this.caller.json(address);
  }

  #post(address, body) {
    return this.caller.json(address, postJson(body));
  }

  #put(address, body) {
    return this.caller.json(address, body ? { ...postJson(body), method: "PUT" } : { method: "PUT" });
  }

  #delete(address) {
    return this.caller.json(address, { method: "DELETE" });
  }
}

/** Write a path; what is put into it stays one segment. */
function path(texts, ...values) {
  return String.raw({ raw: texts }, ...values.map((value) => segment(value)));
}

function segment(value) {
  const text = encodeURIComponent(value);
  if (text === "" || text === "." || text === "..") throw new TypeError("An id is missing.");
  return text;
}

function query(parameters) {
  const given = Object.entries(parameters).filter(([, value]) => value !== undefined);
  return given.length ? `?${new URLSearchParams(given)}` : "";
}
