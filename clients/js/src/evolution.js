/** Evolution: artifacts by their content, evidence about them, jobs that make new ones, and which one is active. */

import { base64, bytesOf } from "./encoding.js";
import { finished } from "./executions.js";
import { path, query, Routes } from "./routes.js";

const ARTIFACTS = "/v1/evolution/artifacts";
const EVIDENCE = "/v1/evolution/evidence";
const JOBS = "/v1/evolution/jobs";
const ACTIVE_REVISION = "/v1/evolution/active-revision";

export class Evolution extends Routes {
  /** @param {import("./index.js").PageOptions} [options] */
  artifacts({ limit, after } = {}) {
    return this.send("GET", ARTIFACTS + query({ limit, after }));
  }

  /**
   * Keep a text or bytes; the same kind and content is the same artifact.
   * @param {{kind: string, content: string | Uint8Array, metadata?: object}} artifact
   */
  keepArtifact({ kind, content, metadata }) {
    const encoding = typeof content === "string" ? "utf-8" : "base64";
    const text = typeof content === "string" ? content : base64(content);
    return this.send("POST", ARTIFACTS, { kind, content: text, encoding, metadata });
  }

  /** An artifact with its `content`, written as `encoding` says. */
  artifact(artifactId) {
    return this.send("GET", path`/v1/evolution/artifacts/${artifactId}`);
  }

  /**
   * The bytes of an artifact.
   * @param {string} artifactId
   * @returns {Promise<Uint8Array>}
   */
  async content(artifactId) {
    const { content, encoding } = await this.artifact(artifactId);
    return encoding === "base64" ? bytesOf(content) : new TextEncoder().encode(content);
  }

  /** @param {import("./index.js").PageOptions} [options] */
  evidence({ limit, after } = {}) {
    return this.send("GET", EVIDENCE + query({ limit, after }));
  }

  keepEvidence({ artifactId, kind, payload }) {
    return this.send("POST", EVIDENCE, { artifactId, kind, payload });
  }

  /** @param {import("./index.js").PageOptions} [options] */
  jobs({ limit, after } = {}) {
    return this.send("GET", JOBS + query({ limit, after }));
  }

  /**
   * Queue a job: one of the operator's programs over artifacts. The same `idempotencyKey` names the same job.
   * @param {import("./index.js").EvolutionJobRequest} job
   */
  startJob({ idempotencyKey = crypto.randomUUID(), ...job }) {
    return this.send("POST", JOBS, { ...job, idempotencyKey });
  }

  job(jobId) {
    return this.send("GET", path`/v1/evolution/jobs/${jobId}`);
  }

  /** Wait until a job is over. */
  waitForJob(jobId, options) {
    return finished(() => this.job(jobId), options);
  }

  /**
   * The active revision, with `limit` of those before it, or before the revision `after`.
   * @param {{limit?: number, after?: number}} [options]
   */
  activeRevision({ limit, after } = {}) {
    return this.send("GET", ACTIVE_REVISION + query({ limit, after }));
  }

  /** Activate an artifact if `expectedRevision` is the active revision, 0 before the first; an earlier one is a rollback. */
  activate({ artifactId, expectedRevision }) {
    return this.send("PUT", ACTIVE_REVISION, { artifactId, expectedRevision });
  }
}
