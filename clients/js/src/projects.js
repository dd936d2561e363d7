/** Projects, and how their sandbox runs are executed. */

import { path, query, Routes } from "./routes.js";

export class Projects extends Routes {
  /** @param {import("./index.js").PageOptions} [options] */
  list({ limit, after } = {}) {
    return this.send("GET", "/v1/projects" + query({ limit, after }));
  }

  executionConfig(projectId) {
    return this.send("GET", path`/v1/projects/${projectId}/execution-config`);
  }

  /**
   * Replace the whole execution configuration; what is left out gets its default. With `version`, only that version is
   * replaced: the code `revision_conflict` says that somebody was faster.
   * @param {string} projectId
   * @param {object} config
   * @param {{version?: number}} [options]
   */
  configure(projectId, config, { version } = {}) {
    const headers = version === undefined ? {} : { "If-Match": String(version) };
    return this.send("PUT", path`/v1/projects/${projectId}/execution-config`, config, headers);
  }
}
