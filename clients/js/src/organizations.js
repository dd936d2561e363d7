/** The routes of organizations, one method each. What a role may do, the gateway decides. */

import { path, query, Routes } from "./routes.js";

/** @import {Checkout, Wallet} from "./account.js" */
/** @import {List} from "./routes.js" */

/** @typedef {"owner" | "admin" | "billing" | "member"} Role */

/**
 * @typedef {{
 *   product: string, enabled: boolean, maxSeats: number | null, assignedSeats: number, version: number,
 * }} ProductView
 */

/**
 * @typedef {{
 *   orgId: string, name: string, role: Role, membershipId: string, createdAt: string, version: number,
 *   products: ProductView[],
 * }} Organization
 */

/**
 * @typedef {{
 *   membershipId: string, did: string, displayName: string, role: Role, status: "active" | "removed",
 *   createdAt: string, removedAt: string | null,
 * }} Membership
 */

/**
 * @typedef {{invitationId: string, role: Role, email: string | null, createdAt: string, expiresAt: string}} Invitation
 */

/**
 * The token is shown this once.
 * @typedef {Invitation & {token: string, url: string}} NewInvitation
 */

/** @typedef {{product: string, membershipId: string, assigned: boolean, assignedAt: string | null}} Seat */

/**
 * @typedef {{
 *   allowed: boolean, reason: "allowed" | "not_member" | "product_disabled" | "no_seat",
 *   versions: {
 *     organization: number | null, membership: number | null, entitlement: number | null, seat: number | null,
 *   },
 * }} AccessDecision
 */

/**
 * @typedef {{
 *   access_token: string, token_type: "DPoP", expires_in: number, scope: string, orgId: string, product: string | null,
 * }} ContextToken
 */

/**
 * One that pays for a product alone has its name.
 * @typedef {Wallet["credits"][number]} Credit
 */

/**
 * Another limit until an instant.
 * @typedef {{limitMicrousd: number, until: string}} BudgetOverride
 */

/**
 * Times are in UTC; a week begins on Monday.
 * @typedef {{
 *   budgetId: string, scope: "org" | "product" | "member" | "member_product",
 *   product: string | null, membershipId: string | null,
 *   limitMicrousd: number, spentMicrousd: number, heldMicrousd: number,
 *   period: "day" | "week" | "month", periodStart: string, periodEnd: string, override: BudgetOverride | null,
 *   status: "active" | "disabled",
 * }} Budget
 */

/**
 * @typedef {object} Invoice
 * @property {string} invoiceId
 * @property {string | null} number null until it is issued
 * @property {"draft" | "open" | "past_due" | "paid" | "void"} status
 * @property {string} periodStart
 * @property {string} periodEnd
 * @property {number} totalMicrousd
 * @property {{product: string, seatDays: number, amountMicrousd: number}[]} lines
 */

/**
 * @typedef {object} SeatEstimate
 * @property {string} month YYYY-MM
 * @property {number} accruedMicrousd
 * @property {number} projectedMicrousd
 * @property {{
 *   product: string, monthlyPriceMicrousd: number, assignedSeats: number, billableSeats: number,
 *   accruedMicrousd: number, projectedMicrousd: number, externallyBilled: boolean,
 * }[]} products
 */

/**
 * @typedef {{
 *   orgId: string, wallet: Omit<Wallet, "credits">, credits: Credit[], budgets: Budget[], invoices: Invoice[],
 *   pastDue: boolean, seatEstimate: SeatEstimate,
 * }} OrganizationBilling
 */

/**
 * @typedef {{
 *   requests: number, inputTokens: number, outputTokens: number, chargedMicrousd: number, heldMicrousd: number,
 * }} Tally
 */

/**
 * @typedef {object} UsageSummary
 * @property {string} orgId
 * @property {string} month YYYY-MM
 * @property {string} periodStart
 * @property {string} periodEnd
 * @property {(Tally & {product: string | null})[]} products
 * @property {(Tally & {membershipId: string | null})[]} members
 * @property {Tally} totals
 */

/**
 * With a product the money becomes a credit for it, else balance.
 * @typedef {{
 *   kind?: "top_up" | "payment_method", amountMicros?: number, product?: string, idempotencyKey?: string,
 * }} OrganizationCheckout
 */

/** @typedef {{product: string, provider: string, externalOrgId: string, mode: "test" | "live"}} ExternalBilling */

/** @typedef {ExternalBilling & {status: "verified", verifiedAt: string}} ExternalMapping */

export class Organizations extends Routes {
  /** @returns {Promise<List<Organization>>} */
  list() {
    return this.send("GET", "/v1/organizations");
  }

  /** @param {{name: string}} body @returns {Promise<Organization>} */
  create({ name }) {
    return this.send("POST", "/v1/organizations", { name });
  }

  /** @param {string} orgId @returns {Promise<Organization>} */
  get(orgId) {
    return this.send("GET", path`/v1/organizations/${orgId}`);
  }

  /** @param {string} orgId @returns {Promise<List<Membership>>} */
  members(orgId) {
    return this.send("GET", path`/v1/organizations/${orgId}/members`);
  }

  /** @param {string} orgId @param {string} membershipId @param {{role: Role}} body @returns {Promise<Membership>} */
  changeRole(orgId, membershipId, { role }) {
    return this.send("PUT", path`/v1/organizations/${orgId}/members/${membershipId}`, { role });
  }

  /** @param {string} orgId @param {string} membershipId @returns {Promise<Membership>} */
  removeMember(orgId, membershipId) {
    return this.send("DELETE", path`/v1/organizations/${orgId}/members/${membershipId}`);
  }

  /** @param {string} orgId @returns {Promise<List<Invitation>>} */
  invitations(orgId) {
    return this.send("GET", path`/v1/organizations/${orgId}/invitations`);
  }

  /**
   * The token in the answer is shown this once.
   * @param {string} orgId @param {{role: Role, email?: string}} body @returns {Promise<NewInvitation>}
   */
  invite(orgId, { role, email }) {
    return this.send("POST", path`/v1/organizations/${orgId}/invitations`, { role, email });
  }

  /** @param {string} orgId @param {string} invitationId @returns {Promise<Invitation>} */
  revokeInvitation(orgId, invitationId) {
    return this.send("DELETE", path`/v1/organizations/${orgId}/invitations/${invitationId}`);
  }

  /** @param {{token: string}} body @returns {Promise<{orgId: string, membershipId: string, role: Role}>} */
  acceptInvitation({ token }) {
    return this.send("POST", "/v1/org-invitations/accept", { token });
  }

  /** @param {string} orgId @returns {Promise<List<ProductView>>} */
  products(orgId) {
    return this.send("GET", path`/v1/organizations/${orgId}/products`);
  }

  /** @param {string} orgId @param {string} product @returns {Promise<ProductView>} */
  enableProduct(orgId, product) {
    return this.send("PUT", path`/v1/organizations/${orgId}/products/${product}`);
  }

  /** @param {string} orgId @param {string} product @returns {Promise<ProductView>} */
  disableProduct(orgId, product) {
    return this.send("DELETE", path`/v1/organizations/${orgId}/products/${product}`);
  }

  /**
   * @param {string} orgId
   * @param {string} product
   * @param {{maxSeats: number | null}} body
   * @returns {Promise<ProductView>}
   */
  setMaxSeats(orgId, product, { maxSeats }) {
    return this.send("PUT", path`/v1/organizations/${orgId}/products/${product}/max-seats`, { maxSeats });
  }

  /** @param {string} orgId @param {string} product @returns {Promise<ProductView>} */
  clearMaxSeats(orgId, product) {
    return this.send("DELETE", path`/v1/organizations/${orgId}/products/${product}/max-seats`);
  }

  /** @param {string} orgId @param {{product?: string}} [filter] @returns {Promise<List<Seat>>} */
  seats(orgId, { product } = {}) {
    return this.send("GET", path`/v1/organizations/${orgId}/seats` + query({ product }));
  }

  /** @param {string} orgId @param {string} product @param {string} membershipId @returns {Promise<Seat>} */
  assignSeat(orgId, product, membershipId) {
    return this.send("PUT", path`/v1/organizations/${orgId}/products/${product}/seats/${membershipId}`);
  }

  /** @param {string} orgId @param {string} product @param {string} membershipId @returns {Promise<Seat>} */
  revokeSeat(orgId, product, membershipId) {
    return this.send("DELETE", path`/v1/organizations/${orgId}/products/${product}/seats/${membershipId}`);
  }

  /**
   * The decision as of now; a denial is an answer, not an error.
   * @param {string} orgId @param {{product?: string}} [filter] @returns {Promise<AccessDecision>}
   */
  access(orgId, { product } = {}) {
    return this.send("GET", path`/v1/organizations/${orgId}/access` + query({ product }));
  }

  /**
   * Wallet, credits, budgets, invoices, and what this month's seats cost.
   * @param {string} orgId @returns {Promise<OrganizationBilling>}
   */
  billing(orgId) {
    return this.send("GET", path`/v1/organizations/${orgId}/billing`);
  }

  /**
   * The members that a budget can be set for.
   * @param {string} orgId @returns {Promise<List<Membership>>}
   */
  billingMembers(orgId) {
    return this.send("GET", path`/v1/organizations/${orgId}/billing/members`);
  }

  /**
   * Set what the organization, a product, a member, or a member's use of a product may spend in a day, a week or a month (the
   * default). Without `override`, one that is set stays; null ends it.
   * @param {string} orgId
   * @param {Pick<Budget, "scope" | "limitMicrousd"> & Partial<Pick<Budget, "period" | "override">>
   *   & {product?: string, membershipId?: string}} budget
   * @returns {Promise<Budget>}
   */
  setBudget(orgId, { scope, limitMicrousd, product, membershipId, period, override }) {
    const body = { scope, limitMicrousd, product, membershipId, period, override };
    return this.send("PUT", path`/v1/organizations/${orgId}/budgets`, body);
  }

  /** @param {string} orgId @param {string} budgetId @returns {Promise<Budget>} */
  disableBudget(orgId, budgetId) {
    return this.send("DELETE", path`/v1/organizations/${orgId}/budgets/${budgetId}`);
  }

  /**
   * The month's calls and charges by product and by member.
   * @param {string} orgId @param {{month?: "current" | "previous"}} [filter] @returns {Promise<UsageSummary>}
   */
  usage(orgId, { month } = {}) {
    return this.send("GET", path`/v1/organizations/${orgId}/usage` + query({ month }));
  }

  /**
   * Begin a payment, or the keeping of a payment method; the person confirms it at the answer's `url`. The same
   * `idempotencyKey` gives the same transaction: keep your own where a reload must not begin another.
   * @param {string} orgId @param {OrganizationCheckout} body @returns {Promise<Checkout>}
   */
  checkout(orgId, { kind = "top_up", amountMicros, product, idempotencyKey = crypto.randomUUID() }) {
    const body = { kind, amountMicros, product, idempotencyKey };
    return this.send("POST", path`/v1/organizations/${orgId}/billing/checkout`, body);
  }

  /**
   * Leave a product's seats to the provider that bills them already, once it confirms so.
   * @param {string} orgId @param {ExternalBilling} mapping @returns {Promise<ExternalMapping>}
   */
  mapExternalBilling(orgId, { product, provider, externalOrgId, mode }) {
    const body = { product, provider, externalOrgId, mode };
    return this.send("POST", path`/v1/organizations/${orgId}/billing/external-mapping`, body);
  }

  /**
   * A token that acts for the organization; `gateway.inOrganization` uses and renews it for you.
   * @param {{orgId: string, product?: string}} context @returns {Promise<ContextToken>}
   */
  contextToken({ orgId, product }) {
    return this.send("POST", "/v1/auth/context", { orgId, product });
  }
}
