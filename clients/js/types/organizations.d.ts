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
 * @typedef {{
 *   budgetId: string, scope: "organization" | "product" | "member" | "member_product",
 *   product: string | null, membershipId: string | null,
 *   limitMicrousd: number, spentMicrousd: number, heldMicrousd: number,
 *   period: "month", status: "active" | "disabled",
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
    list(): Promise<List<Organization>>;
    /** @param {{name: string}} body @returns {Promise<Organization>} */
    create({ name }: {
        name: string;
    }): Promise<Organization>;
    /** @param {string} orgId @returns {Promise<Organization>} */
    get(orgId: string): Promise<Organization>;
    /** @param {string} orgId @returns {Promise<List<Membership>>} */
    members(orgId: string): Promise<List<Membership>>;
    /** @param {string} orgId @param {string} membershipId @param {{role: Role}} body @returns {Promise<Membership>} */
    changeRole(orgId: string, membershipId: string, { role }: {
        role: Role;
    }): Promise<Membership>;
    /** @param {string} orgId @param {string} membershipId @returns {Promise<Membership>} */
    removeMember(orgId: string, membershipId: string): Promise<Membership>;
    /** @param {string} orgId @returns {Promise<List<Invitation>>} */
    invitations(orgId: string): Promise<List<Invitation>>;
    /**
     * The token in the answer is shown this once.
     * @param {string} orgId @param {{role: Role, email?: string}} body @returns {Promise<NewInvitation>}
     */
    invite(orgId: string, { role, email }: {
        role: Role;
        email?: string;
    }): Promise<NewInvitation>;
    /** @param {string} orgId @param {string} invitationId @returns {Promise<Invitation>} */
    revokeInvitation(orgId: string, invitationId: string): Promise<Invitation>;
    /** @param {{token: string}} body @returns {Promise<{orgId: string, membershipId: string, role: Role}>} */
    acceptInvitation({ token }: {
        token: string;
    }): Promise<{
        orgId: string;
        membershipId: string;
        role: Role;
    }>;
    /** @param {string} orgId @returns {Promise<List<ProductView>>} */
    products(orgId: string): Promise<List<ProductView>>;
    /** @param {string} orgId @param {string} product @returns {Promise<ProductView>} */
    enableProduct(orgId: string, product: string): Promise<ProductView>;
    /** @param {string} orgId @param {string} product @returns {Promise<ProductView>} */
    disableProduct(orgId: string, product: string): Promise<ProductView>;
    /**
     * @param {string} orgId
     * @param {string} product
     * @param {{maxSeats: number | null}} body
     * @returns {Promise<ProductView>}
     */
    setMaxSeats(orgId: string, product: string, { maxSeats }: {
        maxSeats: number | null;
    }): Promise<ProductView>;
    /** @param {string} orgId @param {string} product @returns {Promise<ProductView>} */
    clearMaxSeats(orgId: string, product: string): Promise<ProductView>;
    /** @param {string} orgId @param {{product?: string}} [filter] @returns {Promise<List<Seat>>} */
    seats(orgId: string, { product }?: {
        product?: string;
    }): Promise<List<Seat>>;
    /** @param {string} orgId @param {string} product @param {string} membershipId @returns {Promise<Seat>} */
    assignSeat(orgId: string, product: string, membershipId: string): Promise<Seat>;
    /** @param {string} orgId @param {string} product @param {string} membershipId @returns {Promise<Seat>} */
    revokeSeat(orgId: string, product: string, membershipId: string): Promise<Seat>;
    /**
     * The decision as of now; a denial is an answer, not an error.
     * @param {string} orgId @param {{product?: string}} [filter] @returns {Promise<AccessDecision>}
     */
    access(orgId: string, { product }?: {
        product?: string;
    }): Promise<AccessDecision>;
    /**
     * Wallet, credits, budgets, invoices, and what this month's seats cost.
     * @param {string} orgId @returns {Promise<OrganizationBilling>}
     */
    billing(orgId: string): Promise<OrganizationBilling>;
    /**
     * The members that a budget can be set for.
     * @param {string} orgId @returns {Promise<List<Membership>>}
     */
    billingMembers(orgId: string): Promise<List<Membership>>;
    /**
     * Set a month's limit of the organization, a product, a member, or a member's use of a product.
     * @param {string} orgId
     * @param {Pick<Budget, "scope" | "limitMicrousd"> & {product?: string, membershipId?: string}} budget
     * @returns {Promise<Budget>}
     */
    setBudget(orgId: string, { scope, limitMicrousd, product, membershipId }: Pick<Budget, "scope" | "limitMicrousd"> & {
        product?: string;
        membershipId?: string;
    }): Promise<Budget>;
    /** @param {string} orgId @param {string} budgetId @returns {Promise<Budget>} */
    disableBudget(orgId: string, budgetId: string): Promise<Budget>;
    /**
     * The month's calls and charges by product and by member.
     * @param {string} orgId @param {{month?: "current" | "previous"}} [filter] @returns {Promise<UsageSummary>}
     */
    usage(orgId: string, { month }?: {
        month?: "current" | "previous";
    }): Promise<UsageSummary>;
    /**
     * Begin a payment, or the keeping of a payment method; the person confirms it at the answer's `url`. The same
     * `idempotencyKey` gives the same transaction: keep your own where a reload must not begin another.
     * @param {string} orgId @param {OrganizationCheckout} body @returns {Promise<Checkout>}
     */
    checkout(orgId: string, { kind, amountMicros, product, idempotencyKey }: OrganizationCheckout): Promise<Checkout>;
    /**
     * Leave a product's seats to the provider that bills them already, once it confirms so.
     * @param {string} orgId @param {ExternalBilling} mapping @returns {Promise<ExternalMapping>}
     */
    mapExternalBilling(orgId: string, { product, provider, externalOrgId, mode }: ExternalBilling): Promise<ExternalMapping>;
    /**
     * A token that acts for the organization; `gateway.inOrganization` uses and renews it for you.
     * @param {{orgId: string, product?: string}} context @returns {Promise<ContextToken>}
     */
    contextToken({ orgId, product }: {
        orgId: string;
        product?: string;
    }): Promise<ContextToken>;
}
export type Role = "owner" | "admin" | "billing" | "member";
export type ProductView = {
    product: string;
    enabled: boolean;
    maxSeats: number | null;
    assignedSeats: number;
    version: number;
};
export type Organization = {
    orgId: string;
    name: string;
    role: Role;
    membershipId: string;
    createdAt: string;
    version: number;
    products: ProductView[];
};
export type Membership = {
    membershipId: string;
    did: string;
    displayName: string;
    role: Role;
    status: "active" | "removed";
    createdAt: string;
    removedAt: string | null;
};
export type Invitation = {
    invitationId: string;
    role: Role;
    email: string | null;
    createdAt: string;
    expiresAt: string;
};
/**
 * The token is shown this once.
 */
export type NewInvitation = Invitation & {
    token: string;
    url: string;
};
export type Seat = {
    product: string;
    membershipId: string;
    assigned: boolean;
    assignedAt: string | null;
};
export type AccessDecision = {
    allowed: boolean;
    reason: "allowed" | "not_member" | "product_disabled" | "no_seat";
    versions: {
        organization: number | null;
        membership: number | null;
        entitlement: number | null;
        seat: number | null;
    };
};
export type ContextToken = {
    access_token: string;
    token_type: "DPoP";
    expires_in: number;
    scope: string;
    orgId: string;
    product: string | null;
};
/**
 * One that pays for a product alone has its name.
 */
export type Credit = Wallet["credits"][number];
export type Budget = {
    budgetId: string;
    scope: "organization" | "product" | "member" | "member_product";
    product: string | null;
    membershipId: string | null;
    limitMicrousd: number;
    spentMicrousd: number;
    heldMicrousd: number;
    period: "month";
    status: "active" | "disabled";
};
export type Invoice = {
    invoiceId: string;
    /**
     * null until it is issued
     */
    number: string | null;
    status: "draft" | "open" | "past_due" | "paid" | "void";
    periodStart: string;
    periodEnd: string;
    totalMicrousd: number;
    lines: {
        product: string;
        seatDays: number;
        amountMicrousd: number;
    }[];
};
export type SeatEstimate = {
    /**
     * YYYY-MM
     */
    month: string;
    accruedMicrousd: number;
    projectedMicrousd: number;
    products: {
        product: string;
        monthlyPriceMicrousd: number;
        assignedSeats: number;
        billableSeats: number;
        accruedMicrousd: number;
        projectedMicrousd: number;
        externallyBilled: boolean;
    }[];
};
export type OrganizationBilling = {
    orgId: string;
    wallet: Omit<Wallet, "credits">;
    credits: Credit[];
    budgets: Budget[];
    invoices: Invoice[];
    pastDue: boolean;
    seatEstimate: SeatEstimate;
};
export type Tally = {
    requests: number;
    inputTokens: number;
    outputTokens: number;
    chargedMicrousd: number;
    heldMicrousd: number;
};
export type UsageSummary = {
    orgId: string;
    /**
     * YYYY-MM
     */
    month: string;
    periodStart: string;
    periodEnd: string;
    products: (Tally & {
        product: string | null;
    })[];
    members: (Tally & {
        membershipId: string | null;
    })[];
    totals: Tally;
};
/**
 * With a product the money becomes a credit for it, else balance.
 */
export type OrganizationCheckout = {
    kind?: "top_up" | "payment_method";
    amountMicros?: number;
    product?: string;
    idempotencyKey?: string;
};
export type ExternalBilling = {
    product: string;
    provider: string;
    externalOrgId: string;
    mode: "test" | "live";
};
export type ExternalMapping = ExternalBilling & {
    status: "verified";
    verifiedAt: string;
};
import { Routes } from "./routes.js";
import type { List } from "./routes.js";
import type { Checkout } from "./account.js";
import type { Wallet } from "./account.js";
