/** Sandbox runs: programs of a project, executed once, with output that can be read while they run. */

import { finished, followed, isOver } from "./executions.js";
import { path, query, Routes } from "./routes.js";

/** @import {ExecutionError, PollOptions} from "./executions.js" */
/** @import {Page, PageOptions} from "./routes.js" */

/**
 * @typedef {object} SandboxRunRequest
 * @property {string} projectId
 * @property {string[]} [command] the project's own where left out
 * @property {Record<string, string>} [files] texts by relative paths
 * @property {string} [stdin]
 * @property {number} [timeoutSeconds]
 * @property {string} [idempotencyKey]
 */

/**
 * @typedef {{
 *   runId: string, projectId: string,
 *   status: "queued" | "running" | "succeeded" | "failed" | "timed_out" | "cancelling" | "cancelled",
 *   exitCode: number | null, stdout: string, stderr: string, truncated: boolean, error: ExecutionError | null,
 *   createdAt: string, startedAt: string | null, finishedAt: string | null,
 * }} SandboxRun
 */

const STREAMS = /** @type {const} */ (["stdout", "stderr"]);

export class Sandbox extends Routes {
  /**
   * Queue a run. The same `idempotencyKey` names the same run: keep your own where a reload must not begin another.
   * @param {SandboxRunRequest} run @returns {Promise<SandboxRun>}
   */
  create({ idempotencyKey = crypto.randomUUID(), ...run }) {
    return this.send("POST", "/v1/sandbox/runs", { ...run, idempotencyKey });
  }

  /** @param {PageOptions} [options] @returns {Promise<Page<SandboxRun>>} */
  list({ limit, after } = {}) {
    return this.send("GET", "/v1/sandbox/runs" + query({ limit, after }));
  }

  /**
   * A run, with its output so far.
   * @param {string} runId @returns {Promise<SandboxRun>}
   */
  get(runId) {
    return this.send("GET", path`/v1/sandbox/runs/${runId}`);
  }

  /**
   * Ask for the end of a run and all of its processes; repeating changes nothing.
   * @param {string} runId @returns {Promise<SandboxRun>}
   */
  cancel(runId) {
    return this.send("POST", path`/v1/sandbox/runs/${runId}/cancel`);
  }

  /**
   * Wait until a run is over.
   * @param {string} runId @param {PollOptions} [options] @returns {Promise<SandboxRun>}
   */
  wait(runId, options) {
    return finished(() => this.get(runId), options);
  }

  /**
   * Read the output while the run writes it: pieces `{stream, text}`. It ends with the run; leaving the loop leaves the run
   * alone.
   * @param {string} runId
   * @param {PollOptions} [options]
   * @returns {AsyncGenerator<{stream: "stdout" | "stderr", text: string}, void, undefined>}
   */
  async *output(runId, options) {
    const read = { stdout: 0, stderr: 0 };
    for await (const run of followed(() => this.get(runId), options)) {
      for (const stream of STREAMS) {
        const written = settled(run, stream);
        const text = written.slice(read[stream]);
        read[stream] += text.length;
        if (text) yield { stream, text };
      }
    }
  }
}

/** Leave out the end of what is being written: half a character shows as U+FFFD until the rest of it is there. */
function settled(run, stream) {
  return isOver(run) ? run[stream] : run[stream].replace(/\uFFFD+$/, "");
}
