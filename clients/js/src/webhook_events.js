/**
 * Events that a gateway posts to a product's server, signed as Standard Webhooks says.
 *
 * Verify the bytes of the body as they came. A body that was parsed and written again has other bytes, even if it means the same.
 */

import { bytesOf } from "./encoding.js";
import { InvalidEvent } from "./errors.js";

/** @import {UsageRecord} from "./account.js" */
/** @import {Role} from "./organizations.js" */

/** @typedef {UsageRecord & {did: string}} EventUsage */

/** @typedef {{did: string, orgId?: undefined} | {orgId: string, did?: undefined}} EventOwner */

/**
 * A wallet after what happened. A threshold that was crossed has `thresholdMicrousd`, a payment the other two.
 * @typedef {EventOwner & {
 *   availableMicrousd: number, thresholdMicrousd?: number, amountMicrousd?: number, transactionId?: string,
 * }} EventWallet
 */

/**
 * A budget of which `percent` is used up.
 * @typedef {EventOwner & {
 *   budgetId: string, scope: string, percent: number, limitMicrousd: number, spentMicrousd: number,
 * }} EventBudget
 */

/**
 * @typedef {{
 *   orgId: string, invoiceId: string, number: string | null, status: "draft" | "open" | "paid" | "void" | "past_due",
 *   totalMicrousd: number,
 * }} EventInvoice
 */

/** @typedef {{orgId: string, membershipId: string, did: string, role: Role}} EventMembership */
/** @typedef {{orgId: string, product: string, membershipId: string}} EventSeat */
/** @typedef {{did: string, deviceSessionId: string}} EventDevice */

/** @typedef {{id: string, createdAt: string, sequence: number}} EventMembers of every event; `sequence` grows for each owner */

/** @typedef {EventMembers & {type: "usage.settled" | "usage.released" | "usage.reconciling", data: EventUsage}} UsageEvent */
/** @typedef {EventMembers & {type: "wallet.credited" | "wallet.low" | "wallet.empty", data: EventWallet}} WalletEvent */
/** @typedef {EventMembers & {type: "budget.threshold", data: EventBudget}} BudgetEvent */
/** @typedef {EventMembers & {type: "invoice.issued" | "invoice.paid" | "invoice.past_due", data: EventInvoice}} InvoiceEvent */
/** @typedef {EventMembers & {type: "membership.created" | "membership.removed", data: EventMembership}} MembershipEvent */
/** @typedef {EventMembers & {type: "seat.assigned" | "seat.revoked", data: EventSeat}} SeatEvent */
/** @typedef {EventMembers & {type: "device_session.revoked", data: EventDevice}} DeviceEvent */
/** @typedef {EventMembers & {type: "test.ping", data: {endpoint: string}}} PingEvent an operator tries the endpoint */

/**
 * An event: `type` decides what `data` is. A newer gateway may send further types, which a program must ignore.
 * @typedef {UsageEvent | WalletEvent | BudgetEvent | InvoiceEvent | MembershipEvent | SeatEvent | DeviceEvent | PingEvent} GatewayEvent
 */

/** @typedef {Headers | Record<string, string | string[] | undefined>} ReceivedHeaders those of a Request, or of Node's */

const TOLERANCE_SECONDS = 300;
const PREFIX = "whsec_";
const HMAC = { name: "HMAC", hash: "SHA-256" };
const BASE64 = /^[A-Za-z0-9+/]+={0,2}$/;
const MEMBERS = { id: "string", type: "string", createdAt: "string", sequence: "number", data: "object" };

/**
 * Give the event in the body of a request that was signed with one of the secrets, or throw InvalidEvent, which says why.
 *
 * `secrets` is the endpoint's secret (`whsec_…`), or several while one replaces another. The time of the signature may differ
 * from `now` (a Date, default: this machine's clock) by `toleranceSeconds`, five minutes.
 *
 * An event may come more than once: keep its `id`, and do nothing when it comes again.
 * @param {Uint8Array | ArrayBuffer | string} body as it was received, before anything has parsed it
 * @param {ReceivedHeaders} headers @param {string | string[]} secrets
 * @param {{now?: Date, toleranceSeconds?: number}} [options] @returns {Promise<GatewayEvent>}
 */
export async function verifyEvent(body, headers, secrets, { now = new Date(), toleranceSeconds = TOLERANCE_SECONDS } = {}) {
  const bytes = bodyBytes(body);
  const keys = await Promise.all([secrets].flat().map(keyOf));
  if (!keys.length) throw new TypeError("There is no secret to verify an event with.");
  const [id, timestamp, signatures] = ["webhook-id", "webhook-timestamp", "webhook-signature"].map((name) => header(headers, name));
  checkTime(timestamp, now, toleranceSeconds);
  const start = new TextEncoder().encode(`${id}.${timestamp}.`);
  const signed = new Uint8Array(start.length + bytes.length);
  signed.set(start);
  signed.set(bytes, start.length);
  await checkSignature(signatures, keys, signed);
  return eventIn(bytes);
}

function bodyBytes(body) {
  if (typeof body === "string") return new TextEncoder().encode(body);
  if (body instanceof ArrayBuffer) return new Uint8Array(body);
  if (ArrayBuffer.isView(body)) return new Uint8Array(body.buffer, body.byteOffset, body.byteLength);
  throw new TypeError("Give the body's bytes or text as they were received, before anything has parsed them.");
}

async function keyOf(secret) {
  const text = typeof secret === "string" && secret.startsWith(PREFIX) ? secret.slice(PREFIX.length) : "";
  if (!isBase64(text)) throw new TypeError(`An endpoint's secret is ${PREFIX} and base64; this is something else.`);
  return crypto.subtle.importKey("raw", bytesOf(text), HMAC, false, ["verify"]);
}

function header(headers, name) {
  const value =
    typeof headers.get === "function"
      ? headers.get(name)
      : Object.entries(headers).find(([given]) => given.toLowerCase() === name)?.[1];
  const text = Array.isArray(value) ? value.join(" ") : value;
  if (!text) throw new InvalidEvent(`the header ${name} is missing`);
  return text;
}

function checkTime(text, now, toleranceSeconds) {
  if (!/^[0-9]{1,12}$/.test(text)) throw new InvalidEvent("webhook-timestamp is not a number of seconds");
  const late = now.getTime() / 1000 - Number(text);
  if (Math.abs(late) > toleranceSeconds) {
    throw new InvalidEvent(
      `it was signed ${Math.abs(late).toFixed()} seconds ${late > 0 ? "ago" : "ahead"}, and ${toleranceSeconds} are allowed: ` +
        "it is an old one that was sent again, or a clock is wrong",
    );
  }
}

/** WebCrypto compares in a time that says nothing of where two signatures differ. */
async function checkSignature(text, keys, signed) {
  const given = text.split(" ").filter((part) => part.startsWith("v1,")).map((part) => part.slice("v1,".length));
  if (!given.length) throw new InvalidEvent("webhook-signature has no signature of version v1");
  const signatures = given.filter(isBase64).map(bytesOf);
  const checks = keys.flatMap((key) => signatures.map((signature) => crypto.subtle.verify("HMAC", key, signature, signed)));
  if (!(await Promise.all(checks)).includes(true)) {
    throw new InvalidEvent(
      "no signature matches: the secret is another endpoint's or was replaced, or these are not the bytes that were sent",
    );
  }
}

function isBase64(text) {
  return BASE64.test(text) && text.length % 4 === 0;
}

function eventIn(bytes) {
  let event;
  try {
    event = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
  } catch {
    event = null;
  }
  if (event === null || typeof event !== "object" || Array.isArray(event)) throw new InvalidEvent("its body is no JSON object");
  for (const [name, type] of Object.entries(MEMBERS)) {
    const isOfType = typeof event[name] === type && event[name] !== null && !Array.isArray(event[name]);
    if (!isOfType) throw new InvalidEvent(`its member ${name} is missing or of another type`);
  }
  return event;
}
