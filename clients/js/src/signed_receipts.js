/** Signed receipts of paid calls: anyone can verify one with the gateway's published keys, and without a token. */

import { bytesOf } from "./encoding.js";
import { InvalidReceipt } from "./errors.js";
import { GUARDED, reach, readJson } from "./transport.js";

/** @import {Jwk} from "./private_keys.js" */
/** @typedef {{keys: Jwk[]}} ReceiptKeys the JWK set that a gateway publishes */

/**
 * @typedef {object} Component
 * @property {string} component of the price list; `cap` for what is beyond the hold, `adjustment` for what no quantity explains
 * @property {number | null} quantity
 * @property {string | null} unitPriceMicrousd
 * @property {string} amountMicrousd
 */

/**
 * @typedef {object} ReceiptClaims
 * @property {string} iss the gateway
 * @property {string} sub who paid: an account's DID or an organization's id
 * @property {string} jti the usage id
 * @property {number} iat
 * @property {string} route
 * @property {string} model
 * @property {string} status
 * @property {string | null} request_sha256 of the body as it was sent, in hex
 * @property {number} hold_microusd
 * @property {number} charge_microusd
 * @property {Component[]} components
 * @property {string} settled_at
 * @property {{number: number, hash: string}} [seal] once the call is sealed
 */

const KEYS_PATH = "/.well-known/receipt-keys.json";
const TYPE = "receipt+jwt";
const ALGORITHM = { name: "ECDSA", namedCurve: "P-256" };
const SIGNATURE = { name: "ECDSA", hash: "SHA-256" };
const BASE64URL = /^[A-Za-z0-9_-]+$/;
const DECIMAL = /^(-?)([0-9]{1,30})(?:\.([0-9]{1,6}))?$/;
const PICO_PER_MICRO = 1_000_000n;

/**
 * Fetch the keys that a gateway publishes for its receipts. Keep them to verify offline.
 * @param {string} baseUrl @param {typeof globalThis.fetch} [fetch] @returns {Promise<ReceiptKeys>}
 */
export async function fetchReceiptKeys(baseUrl, fetch = globalThis.fetch.bind(globalThis)) {
  const address = baseUrl.replace(/\/$/, "") + KEYS_PATH;
  return readJson(await reach(() => fetch(address, { ...GUARDED, redirect: "follow" }), baseUrl));
}

/**
 * Give the claims of a receipt that `issuer` signed with one of these keys, or throw InvalidReceipt.
 *
 * Checked are the type, the algorithm (ES256), the key's id, the signature, the issuer, and the arithmetic: each quantity
 * at its unit price is its amount, the exact sum of the amounts rounded up is `charge_microusd`, and that is at most
 * `hold_microusd`.
 * @param {string} receipt @param {ReceiptKeys} keys @param {{issuer: string}} options @returns {Promise<ReceiptClaims>}
 */
export async function verifyReceipt(receipt, keys, { issuer }) {
  const segments = receipt.split(".");
  if (segments.length !== 3) throw new InvalidReceipt("it is not a compact JWS");
  const [header, claims] = segments.slice(0, 2).map(objectIn);
  if (header.typ !== TYPE) throw new InvalidReceipt(`its type is not ${TYPE}`);
  if (header.alg !== "ES256" || "crit" in header) throw new InvalidReceipt("it is not signed with ES256");
  const signed = new TextEncoder().encode(`${segments[0]}.${segments[1]}`);
  const key = await publicKey(header.kid, keys);
  const verifies = await crypto.subtle.verify(SIGNATURE, key, decoded(segments[2]), signed);
  if (!verifies) throw new InvalidReceipt("its signature does not verify");
  if (claims.iss !== issuer.replace(/\/$/, "")) throw new InvalidReceipt(`it was issued by ${claims.iss}, not by ${issuer}`);
  checkAmounts(claims);
  return claims;
}

async function publicKey(kid, keys) {
  const listed = Array.isArray(keys?.keys) ? keys.keys : [];
  const found = typeof kid === "string" && listed.find((key) => key?.kid === kid);
  if (!found) throw new InvalidReceipt(`the key ${kid} is not among the keys`);
  const { kty, crv, x, y, alg = "ES256" } = found;
  if (kty !== "EC" || crv !== "P-256" || alg !== "ES256") throw new InvalidReceipt("its key is not one for ES256");
  try {
    return await crypto.subtle.importKey("jwk", { kty, crv, x, y }, ALGORITHM, false, ["verify"]);
  } catch (cause) {
    throw new InvalidReceipt("its key is not a point on P-256", { cause });
  }
}

function checkAmounts({ charge_microusd: charge, hold_microusd: hold, components }) {
  if (!Number.isSafeInteger(charge) || !Number.isSafeInteger(hold) || !Array.isArray(components)) {
    throw new InvalidReceipt("it lacks an amount");
  }
  const total = components.reduce((sum, component) => sum + amountOf(component), 0n);
  if (roundedUp(total) !== BigInt(charge)) {
    throw new InvalidReceipt(`its components do not come to the charge of ${charge} micro-USD`);
  }
  if (charge < 0 || charge > hold) {
    throw new InvalidReceipt(`its charge of ${charge} micro-USD is not within the hold of ${hold}`);
  }
}

/** Give a component's amount in millionths of a micro-USD, if it is what the quantity costs at the unit price. */
function amountOf(component) {
  const { component: name, quantity, unitPriceMicrousd: price, amountMicrousd } = component ?? {};
  const amount = pico(amountMicrousd);
  if (price !== null && price !== undefined) {
    if (!Number.isSafeInteger(quantity) || BigInt(quantity) * pico(price) !== amount) {
      throw new InvalidReceipt(`the amount of ${name} is not its quantity at its unit price`);
    }
  }
  return amount;
}

function pico(text) {
  const found = typeof text === "string" ? DECIMAL.exec(text) : null;
  if (!found) throw new InvalidReceipt(`${text} is not an exact amount`);
  const [, sign, whole, decimals = ""] = found;
  const value = BigInt(whole) * PICO_PER_MICRO + BigInt(decimals.padEnd(6, "0"));
  return sign ? -value : value;
}

/** Division of BigInt cuts off towards zero, which is up for what is negative. */
function roundedUp(total) {
  const whole = total / PICO_PER_MICRO;
  return total > 0n && total % PICO_PER_MICRO !== 0n ? whole + 1n : whole;
}

function objectIn(segment) {
  let value;
  try {
    value = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(decoded(segment)));
  } catch (cause) {
    if (cause instanceof InvalidReceipt) throw cause;
  }
  if (value === null || typeof value !== "object" || Array.isArray(value)) {
    throw new InvalidReceipt("it is not made of JSON objects");
  }
  return value;
}

function decoded(segment) {
  if (!BASE64URL.test(segment) || segment.length % 4 === 1) throw new InvalidReceipt("it is not base64url");
  return bytesOf(segment);
}
