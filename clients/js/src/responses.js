/** Stored responses: read, deleted, and their input listed. */

import { path, query, Routes } from "./routes.js";

/** What is stored of responses. */
export class Responses extends Routes {
  /** @param {string} responseId */
  get(responseId) {
    return this.send("GET", path`/v1/responses/${responseId}`);
  }

  /** @param {string} responseId */
  delete(responseId) {
    return this.send("DELETE", path`/v1/responses/${responseId}`);
  }

  /**
   * The items that a response answered, newest first where `order` is left out.
   * @param {string} responseId
   * @param {{limit?: number, after?: string, order?: "asc" | "desc"}} [options]
   * @returns {Promise<{
   *   object: "list", data: any[], first_id: string | null, last_id: string | null, has_more: boolean,
   * }>}
   */
  inputItems(responseId, { limit, after, order } = {}) {
    return this.send("GET", path`/v1/responses/${responseId}/input_items` + query({ limit, after, order }));
  }
}
