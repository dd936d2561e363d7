/** CI runs, as their providers reported them. */

import { path, query, Routes } from "./routes.js";

/** @import {Page, PageOptions} from "./routes.js" */

/**
 * @typedef {{
 *   runId: string, projectId: string, provider: string, externalId: string, ref: string, commit: string,
 *   status: "queued" | "running" | "succeeded" | "failed" | "cancelled",
 *   steps: {
 *     name: string, status: CIRun["status"] | "skipped", startedAt: string | null, finishedAt: string | null,
 *   }[],
 *   url: string | null, createdAt: string, finishedAt: string | null,
 * }} CIRun
 */

export class CI extends Routes {
  /** @param {PageOptions} [options] @returns {Promise<Page<CIRun>>} */
  list({ limit, after } = {}) {
    return this.send("GET", "/v1/ci/runs" + query({ limit, after }));
  }

  /**
   * A run with its steps.
   * @param {string} runId @returns {Promise<CIRun>}
   */
  get(runId) {
    return this.send("GET", path`/v1/ci/runs/${runId}`);
  }
}
