/** What a metered call cost, in micro-USD (1 USD is 1,000,000). */

/**
 * @typedef {object} Receipt
 * @property {string} usageId
 * @property {number | null} holdMicrousd what was set aside before the call
 * @property {number | null} chargeMicrousd what was kept; null while a stream runs or an outcome is open
 * @property {boolean} replayed whether a stored answer came back, for which nothing is charged again
 */

const CLOSING = /^ ?service (\{.*\})$/;

/**
 * Read the headers of a metered answer; null where the request was not metered.
 * @param {Headers} headers @returns {Receipt | null}
 */
export function receiptOf(headers) {
  const usageId = headers.get("x-service-usage-id");
  if (usageId === null) return null;
  return {
    usageId,
    holdMicrousd: whole(headers.get("x-service-hold-microusd")),
    chargeMicrousd: whole(headers.get("x-service-charge-microusd")),
    replayed: headers.get("Idempotent-Replayed") === "true",
  };
}

/**
 * Read the comment that closes a stream; undefined where a comment is another one.
 * @param {string} comment
 * @returns {number | null | undefined} the charge
 */
export function chargeIn(comment) {
  const [, json] = CLOSING.exec(comment) ?? [];
  try {
    return json === undefined ? undefined : (JSON.parse(json).charge_microusd ?? null);
  } catch {
    return undefined;
  }
}

function whole(text) {
  return text === null ? null : Number(text);
}
