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
    list({ limit, after }?: PageOptions): Promise<Page<CIRun>>;
    /**
     * A run with its steps.
     * @param {string} runId @returns {Promise<CIRun>}
     */
    get(runId: string): Promise<CIRun>;
}
export type CIRun = {
    runId: string;
    projectId: string;
    provider: string;
    externalId: string;
    ref: string;
    commit: string;
    status: "queued" | "running" | "succeeded" | "failed" | "cancelled";
    steps: {
        name: string;
        status: CIRun["status"] | "skipped";
        startedAt: string | null;
        finishedAt: string | null;
    }[];
    url: string | null;
    createdAt: string;
    finishedAt: string | null;
};
import { Routes } from "./routes.js";
import type { PageOptions } from "./routes.js";
import type { Page } from "./routes.js";
