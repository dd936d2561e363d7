/** Projects, and how their sandbox runs are executed. */

import { path, query, Routes } from "./routes.js";

/** @import {Page, PageOptions} from "./routes.js" */

/** @typedef {{projectId: string, name: string, product: string, createdAt: string}} Project */

/**
 * What is left out of a PUT gets its default.
 * @typedef {{
 *   runtime?: string, command?: string[], environment?: Record<string, string>, timeoutSeconds?: number,
 *   memoryMb?: number, network?: "none" | "egress",
 * }} ExecutionConfigRequest
 */

/**
 * @typedef {Required<ExecutionConfigRequest> & {projectId: string, version: number, updatedAt: string}} ExecutionConfig
 */

export class Projects extends Routes {
  /** @param {PageOptions} [options] @returns {Promise<Page<Project>>} */
  list({ limit, after } = {}) {
    return this.send("GET", "/v1/projects" + query({ limit, after }));
  }

  /** @param {string} projectId @returns {Promise<ExecutionConfig>} */
  executionConfig(projectId) {
    return this.send("GET", path`/v1/projects/${projectId}/execution-config`);
  }

  /**
   * Replace the whole execution configuration; what is left out gets its default. With `version`, only that version is
   * replaced: the code `revision_conflict` says that somebody was faster.
   * @param {string} projectId
   * @param {ExecutionConfigRequest} config
   * @param {{version?: number}} [options]
   * @returns {Promise<ExecutionConfig>}
   */
  configure(projectId, config, { version } = {}) {
    /** @type {Record<string, string>} */
    const headers = version === undefined ? {} : { "If-Match": String(version) };
    return this.send("PUT", path`/v1/projects/${projectId}/execution-config`, config, headers);
  }
}
