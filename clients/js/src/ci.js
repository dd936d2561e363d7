/** CI runs, as their providers reported them. */

import { path, query, Routes } from "./routes.js";

export class CI extends Routes {
  /** @param {import("./index.js").PageOptions} [options] */
  list({ limit, after } = {}) {
    return this.send("GET", "/v1/ci/runs" + query({ limit, after }));
  }

  /** A run with its steps. */
  get(runId) {
    return this.send("GET", path`/v1/ci/runs/${runId}`);
  }
}
