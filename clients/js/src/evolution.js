/** Evolution: artifacts by their content, evidence about them, jobs that make new ones, and which one is active. */

import { base64, bytesOf } from "./encoding.js";
import { finished } from "./executions.js";
import { path, query, Routes } from "./routes.js";

/** @import {ExecutionError, PollOptions} from "./executions.js" */
/** @import {Page, PageOptions} from "./routes.js" */

/**
 * @typedef {object} Artifact
 * @property {string} artifactId
 * @property {string} kind
 * @property {string} contentSha256 hexadecimal
 * @property {number} size in bytes
 * @property {Record<string, unknown>} metadata
 * @property {string} createdAt
 */

/** @typedef {Artifact & {content: string, encoding: "utf-8" | "base64"}} ArtifactContent */

/**
 * @typedef {{
 *   evidenceId: string, artifactId: string, kind: string, payload: Record<string, unknown>, createdAt: string,
 * }} Evidence
 */

/**
 * @typedef {object} EvolutionJobRequest
 * @property {string} program
 * @property {string[]} inputs ids of artifacts
 * @property {string[]} [evidence] ids of evidence
 * @property {string} [idempotencyKey]
 */

/**
 * @typedef {{
 *   jobId: string, program: string, status: "queued" | "running" | "succeeded" | "failed" | "cancelled",
 *   inputs: string[], evidence: string[], resultArtifactId: string | null, error: ExecutionError | null,
 *   createdAt: string, finishedAt: string | null,
 * }} EvolutionJob
 */

/**
 * Revision 0, without an artifact, before the first activation.
 * @typedef {{revision: number, artifactId: string | null, activatedAt: string | null}} Revision
 */

/** @typedef {Revision & {history: Revision[], hasMore: boolean}} ActiveRevision */

const ARTIFACTS = "/v1/evolution/artifacts";
const EVIDENCE = "/v1/evolution/evidence";
const JOBS = "/v1/evolution/jobs";
const ACTIVE_REVISION = "/v1/evolution/active-revision";

export class Evolution extends Routes {
  /** @param {PageOptions} [options] @returns {Promise<Page<Artifact>>} */
  artifacts({ limit, after } = {}) {
    return this.send("GET", ARTIFACTS + query({ limit, after }));
  }

  /**
   * Keep a text, or bytes, which travel as base64; the same kind and content is the same artifact.
   * @param {{kind: string, content: string | Uint8Array, metadata?: object}} artifact @returns {Promise<Artifact>}
   */
  keepArtifact({ kind, content, metadata }) {
    const encoding = typeof content === "string" ? "utf-8" : "base64";
    const text = typeof content === "string" ? content : base64(content);
    return this.send("POST", ARTIFACTS, { kind, content: text, encoding, metadata });
  }

  /**
   * An artifact with its `content`, written as `encoding` says.
   * @param {string} artifactId @returns {Promise<ArtifactContent>}
   */
  artifact(artifactId) {
    return this.send("GET", path`/v1/evolution/artifacts/${artifactId}`);
  }

  /**
   * The bytes of an artifact.
   * @param {string} artifactId @returns {Promise<Uint8Array>}
   */
  async content(artifactId) {
    const { content, encoding } = await this.artifact(artifactId);
    return encoding === "base64" ? bytesOf(content) : new TextEncoder().encode(content);
  }

  /** @param {PageOptions} [options] @returns {Promise<Page<Evidence>>} */
  evidence({ limit, after } = {}) {
    return this.send("GET", EVIDENCE + query({ limit, after }));
  }

  /** @param {{artifactId: string, kind: string, payload: object}} evidence @returns {Promise<Evidence>} */
  keepEvidence({ artifactId, kind, payload }) {
    return this.send("POST", EVIDENCE, { artifactId, kind, payload });
  }

  /** @param {PageOptions} [options] @returns {Promise<Page<EvolutionJob>>} */
  jobs({ limit, after } = {}) {
    return this.send("GET", JOBS + query({ limit, after }));
  }

  /**
   * Queue a job: one of the operator's programs over artifacts. The same `idempotencyKey` names the same job.
   * @param {EvolutionJobRequest} job @returns {Promise<EvolutionJob>}
   */
  startJob({ idempotencyKey = crypto.randomUUID(), ...job }) {
    return this.send("POST", JOBS, { ...job, idempotencyKey });
  }

  /** @param {string} jobId @returns {Promise<EvolutionJob>} */
  job(jobId) {
    return this.send("GET", path`/v1/evolution/jobs/${jobId}`);
  }

  /**
   * Wait until a job is over.
   * @param {string} jobId @param {PollOptions} [options] @returns {Promise<EvolutionJob>}
   */
  waitForJob(jobId, options) {
    return finished(() => this.job(jobId), options);
  }

  /**
   * The active revision, with at most `limit` of those before it, or before the revision `after`.
   * @param {{limit?: number, after?: number}} [options] @returns {Promise<ActiveRevision>}
   */
  activeRevision({ limit, after } = {}) {
    return this.send("GET", ACTIVE_REVISION + query({ limit, after }));
  }

  /**
   * Activate an artifact if `expectedRevision` is the active revision, 0 before the first; an earlier one is a rollback.
   * @param {{artifactId: string, expectedRevision: number}} revision @returns {Promise<Revision>}
   */
  activate({ artifactId, expectedRevision }) {
    return this.send("PUT", ACTIVE_REVISION, { artifactId, expectedRevision });
  }
}
