/** CI runs, as their providers reported them. */

import { path, query, Routes } from "./routes.js";

export class CI extends Routes {
  /** @param {{limit?: number}} [options] */
  list({ limit } = {}) {
    return this.send("GET", "/v1/ci/runs" + query({ limit }));
  }

  /** A run with its steps. */
  get(runId) {
    return this.send("GET", path`/v1/ci/runs/${runId}`);
  }
}
