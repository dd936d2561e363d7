/** The routes of organizations, one method each. What a role may do, the gateway decides. */

import { path, query, Routes } from "./routes.js";

export class Organizations extends Routes {
  list() {
    return this.send("GET", "/v1/organizations");
  }

  create({ name }) {
    return this.send("POST", "/v1/organizations", { name });
  }

  get(orgId) {
    return this.send("GET", path`/v1/organizations/${orgId}`);
  }

  members(orgId) {
    return this.send("GET", path`/v1/organizations/${orgId}/members`);
  }

  changeRole(orgId, membershipId, { role }) {
    return this.send("PUT", path`/v1/organizations/${orgId}/members/${membershipId}`, { role });
  }

  removeMember(orgId, membershipId) {
    return this.send("DELETE", path`/v1/organizations/${orgId}/members/${membershipId}`);
  }

  invitations(orgId) {
    return this.send("GET", path`/v1/organizations/${orgId}/invitations`);
  }

  /** The token in the answer is shown this once. */
  invite(orgId, { role, email }) {
    return this.send("POST", path`/v1/organizations/${orgId}/invitations`, { role, email });
  }

  revokeInvitation(orgId, invitationId) {
    return this.send("DELETE", path`/v1/organizations/${orgId}/invitations/${invitationId}`);
  }

  acceptInvitation({ token }) {
    return this.send("POST", "/v1/org-invitations/accept", { token });
  }

  products(orgId) {
    return this.send("GET", path`/v1/organizations/${orgId}/products`);
  }

  enableProduct(orgId, product) {
    return this.send("PUT", path`/v1/organizations/${orgId}/products/${product}`);
  }

  disableProduct(orgId, product) {
    return this.send("DELETE", path`/v1/organizations/${orgId}/products/${product}`);
  }

  setMaxSeats(orgId, product, { maxSeats }) {
    return this.send("PUT", path`/v1/organizations/${orgId}/products/${product}/max-seats`, { maxSeats });
  }

  clearMaxSeats(orgId, product) {
    return this.send("DELETE", path`/v1/organizations/${orgId}/products/${product}/max-seats`);
  }

  /**
   * @param {string} orgId
   * @param {{product?: string}} [filter]
   */
  seats(orgId, { product } = {}) {
    return this.send("GET", path`/v1/organizations/${orgId}/seats` + query({ product }));
  }

  assignSeat(orgId, product, membershipId) {
    return this.send("PUT", path`/v1/organizations/${orgId}/products/${product}/seats/${membershipId}`);
  }

  revokeSeat(orgId, product, membershipId) {
    return this.send("DELETE", path`/v1/organizations/${orgId}/products/${product}/seats/${membershipId}`);
  }

  /**
   * The decision as of now; a denial is an answer, not an error.
   * @param {string} orgId
   * @param {{product?: string}} [filter]
   */
  access(orgId, { product } = {}) {
    return this.send("GET", path`/v1/organizations/${orgId}/access` + query({ product }));
  }

  /** Wallet, credits, budgets, invoices, and what this month's seats cost. */
  billing(orgId) {
    return this.send("GET", path`/v1/organizations/${orgId}/billing`);
  }

  /** The members that a budget can be set for. */
  billingMembers(orgId) {
    return this.send("GET", path`/v1/organizations/${orgId}/billing/members`);
  }

  /** Set a month's limit of the organization, a product, a member, or a member's use of a product. */
  setBudget(orgId, { scope, limitMicrousd, product, membershipId }) {
    const body = { scope, limitMicrousd, product, membershipId };
    return this.send("PUT", path`/v1/organizations/${orgId}/budgets`, body);
  }

  disableBudget(orgId, budgetId) {
    return this.send("DELETE", path`/v1/organizations/${orgId}/budgets/${budgetId}`);
  }

  /**
   * The month's calls and charges by product and by member.
   * @param {string} orgId
   * @param {{month?: "current" | "previous"}} [filter]
   */
  usage(orgId, { month } = {}) {
    return this.send("GET", path`/v1/organizations/${orgId}/usage` + query({ month }));
  }

  /**
   * Begin a payment, or the keeping of a payment method; the person confirms it at the answer's `url`. The same
   * `idempotencyKey` gives the same transaction: keep your own where a reload must not begin another.
   * @param {string} orgId
   * @param {import("./index.js").OrganizationCheckout} body
   */
  checkout(orgId, { kind = "top_up", amountMicros, product, idempotencyKey = crypto.randomUUID() }) {
    const body = { kind, amountMicros, product, idempotencyKey };
    return this.send("POST", path`/v1/organizations/${orgId}/billing/checkout`, body);
  }

  /** Leave a product's seats to the provider that bills them already, once it confirms so. */
  mapExternalBilling(orgId, { product, provider, externalOrgId, mode }) {
    const body = { product, provider, externalOrgId, mode };
    return this.send("POST", path`/v1/organizations/${orgId}/billing/external-mapping`, body);
  }

  /**
   * A token that acts for the organization; `gateway.inOrganization` uses and renews it for you.
   * @param {{orgId: string, product?: string}} context
   */
  contextToken({ orgId, product }) {
    return this.send("POST", "/v1/auth/context", { orgId, product });
  }
}
