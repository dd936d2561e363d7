export class Evolution extends Routes {
    /** @param {PageOptions} [options] @returns {Promise<Page<Artifact>>} */
    artifacts({ limit, after }?: PageOptions): Promise<Page<Artifact>>;
    /**
     * Keep a text, or bytes, which travel as base64; the same kind and content is the same artifact.
     * @param {{kind: string, content: string | Uint8Array, metadata?: object}} artifact @returns {Promise<Artifact>}
     */
    keepArtifact({ kind, content, metadata }: {
        kind: string;
        content: string | Uint8Array;
        metadata?: object;
    }): Promise<Artifact>;
    /**
     * An artifact with its `content`, written as `encoding` says.
     * @param {string} artifactId @returns {Promise<ArtifactContent>}
     */
    artifact(artifactId: string): Promise<ArtifactContent>;
    /**
     * The bytes of an artifact.
     * @param {string} artifactId @returns {Promise<Uint8Array>}
     */
    content(artifactId: string): Promise<Uint8Array>;
    /** @param {PageOptions} [options] @returns {Promise<Page<Evidence>>} */
    evidence({ limit, after }?: PageOptions): Promise<Page<Evidence>>;
    /** @param {{artifactId: string, kind: string, payload: object}} evidence @returns {Promise<Evidence>} */
    keepEvidence({ artifactId, kind, payload }: {
        artifactId: string;
        kind: string;
        payload: object;
    }): Promise<Evidence>;
    /** @param {PageOptions} [options] @returns {Promise<Page<EvolutionJob>>} */
    jobs({ limit, after }?: PageOptions): Promise<Page<EvolutionJob>>;
    /**
     * Queue a job: one of the operator's programs over artifacts. The same `idempotencyKey` names the same job.
     * @param {EvolutionJobRequest} job @returns {Promise<EvolutionJob>}
     */
    startJob({ idempotencyKey, ...job }: EvolutionJobRequest): Promise<EvolutionJob>;
    /** @param {string} jobId @returns {Promise<EvolutionJob>} */
    job(jobId: string): Promise<EvolutionJob>;
    /**
     * Wait until a job is over.
     * @param {string} jobId @param {PollOptions} [options] @returns {Promise<EvolutionJob>}
     */
    waitForJob(jobId: string, options?: PollOptions): Promise<EvolutionJob>;
    /**
     * The active revision, with at most `limit` of those before it, or before the revision `after`.
     * @param {{limit?: number, after?: number}} [options] @returns {Promise<ActiveRevision>}
     */
    activeRevision({ limit, after }?: {
        limit?: number;
        after?: number;
    }): Promise<ActiveRevision>;
    /**
     * Activate an artifact if `expectedRevision` is the active revision, 0 before the first; an earlier one is a rollback.
     * @param {{artifactId: string, expectedRevision: number}} revision @returns {Promise<Revision>}
     */
    activate({ artifactId, expectedRevision }: {
        artifactId: string;
        expectedRevision: number;
    }): Promise<Revision>;
}
export type Artifact = {
    artifactId: string;
    kind: string;
    /**
     * hexadecimal
     */
    contentSha256: string;
    /**
     * in bytes
     */
    size: number;
    metadata: Record<string, unknown>;
    createdAt: string;
};
export type ArtifactContent = Artifact & {
    content: string;
    encoding: "utf-8" | "base64";
};
export type Evidence = {
    evidenceId: string;
    artifactId: string;
    kind: string;
    payload: Record<string, unknown>;
    createdAt: string;
};
export type EvolutionJobRequest = {
    program: string;
    /**
     * ids of artifacts
     */
    inputs: string[];
    /**
     * ids of evidence
     */
    evidence?: string[] | undefined;
    idempotencyKey?: string | undefined;
};
export type EvolutionJob = {
    jobId: string;
    program: string;
    status: "queued" | "running" | "succeeded" | "failed" | "cancelled";
    inputs: string[];
    evidence: string[];
    resultArtifactId: string | null;
    error: ExecutionError | null;
    createdAt: string;
    finishedAt: string | null;
};
/**
 * Revision 0, without an artifact, before the first activation.
 */
export type Revision = {
    revision: number;
    artifactId: string | null;
    activatedAt: string | null;
};
export type ActiveRevision = Revision & {
    history: Revision[];
    hasMore: boolean;
};
import { Routes } from "./routes.js";
import type { PageOptions } from "./routes.js";
import type { Page } from "./routes.js";
import type { PollOptions } from "./executions.js";
import type { ExecutionError } from "./executions.js";
