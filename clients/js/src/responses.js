/** Stored responses: read, deleted, and their input listed. */

import { path, query, Routes } from "./routes.js";

export class Responses extends Routes {
  get(responseId) {
    return this.send("GET", path`/v1/responses/${responseId}`);
  }

  delete(responseId) {
    return this.send("DELETE", path`/v1/responses/${responseId}`);
  }

  /**
   * The items that a response answered, newest first.
   * @param {string} responseId
   * @param {{limit?: number, after?: string, order?: "asc" | "desc"}} [options]
   */
  inputItems(responseId, { limit, after, order } = {}) {
    return this.send("GET", path`/v1/responses/${responseId}/input_items` + query({ limit, after, order }));
  }
}
