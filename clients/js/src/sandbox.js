/** Sandbox runs: programs of a project, executed once, with output that can be read while they run. */

import { finished, followed, isOver } from "./executions.js";
import { path, query, Routes } from "./routes.js";

const STREAMS = ["stdout", "stderr"];

export class Sandbox extends Routes {
  /**
   * Queue a run. The same `idempotencyKey` names the same run: keep your own where a reload must not begin another.
   * @param {import("./index.js").SandboxRunRequest} body
   */
  create({ idempotencyKey = crypto.randomUUID(), ...run }) {
    return this.send("POST", "/v1/sandbox/runs", { ...run, idempotencyKey });
  }

  /** @param {import("./index.js").PageOptions} [options] */
  list({ limit, after } = {}) {
    return this.send("GET", "/v1/sandbox/runs" + query({ limit, after }));
  }

  /** A run, with its output so far. */
  get(runId) {
    return this.send("GET", path`/v1/sandbox/runs/${runId}`);
  }

  /** Ask for the end of a run and all of its processes; repeating changes nothing. */
  cancel(runId) {
    return this.send("POST", path`/v1/sandbox/runs/${runId}/cancel`);
  }

  /** Wait until a run is over. */
  wait(runId, options) {
    return finished(() => this.get(runId), options);
  }

  /**
   * Read the output while the run writes it: pieces `{stream, text}`. It ends with the run; leaving the loop leaves the run
   * alone.
   * @param {string} runId
   * @param {import("./index.js").PollOptions} [options]
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
