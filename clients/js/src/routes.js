/** What the groups of routes have in common: paths, queries, and requests with a JSON body. */

import { postJson } from "./session.js";

/**
 * @template T
 * @typedef {{data: T[]}} List
 */

/**
 * @typedef {object} PageOptions
 * @property {number} [limit] how many of the newest: 1 to 100, 20 where left out
 * @property {string} [after] the `lastId` of the page before
 */

/**
 * @template T
 * @typedef {List<T> & {hasMore: boolean, firstId: string | null, lastId: string | null}} Page
 */

export class Routes {
  /** @param {import("./caller.js").Caller} caller */
  constructor(caller) {
    /** @private */
    this.caller = caller;
  }

  /**
   * Send a request and read its JSON, or throw GatewayError.
   * @param {string} method
   * @param {string} address
   * @param {object} [body]
   * @param {Record<string, string>} [headers]
   * @returns {Promise<any>}
   * @protected
   */
  send(method, address, body = undefined, headers = {}) {
    if (body === undefined) return this.caller.json(address, { method, headers });
    const init = postJson(body);
    return this.caller.json(address, { ...init, method, headers: { ...init.headers, ...headers } });
  }
}

/** Write a path; what is put into it stays one segment. */
export function path(texts, ...values) {
  return String.raw({ raw: texts }, ...values.map((value) => segment(value)));
}

/** Write a query of the parameters that are given, or nothing. */
export function query(parameters) {
  const given = Object.entries(parameters).filter(([, value]) => value !== undefined);
  return given.length ? `?${new URLSearchParams(given)}` : "";
}

function segment(value) {
  const text = encodeURIComponent(value);
  if (text === "" || text === "." || text === "..") throw new TypeError("An id is missing.");
  return text;
}
