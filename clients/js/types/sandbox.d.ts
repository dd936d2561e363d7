export class Sandbox extends Routes {
    /**
     * Queue a run. The same `idempotencyKey` names the same run: keep your own where a reload must not begin another.
     * @param {SandboxRunRequest} run @returns {Promise<SandboxRun>}
     */
    create({ idempotencyKey, ...run }: SandboxRunRequest): Promise<SandboxRun>;
    /** @param {PageOptions} [options] @returns {Promise<Page<SandboxRun>>} */
    list({ limit, after }?: PageOptions): Promise<Page<SandboxRun>>;
    /**
     * A run, with its output so far.
     * @param {string} runId @returns {Promise<SandboxRun>}
     */
    get(runId: string): Promise<SandboxRun>;
    /**
     * Ask for the end of a run and all of its processes; repeating changes nothing.
     * @param {string} runId @returns {Promise<SandboxRun>}
     */
    cancel(runId: string): Promise<SandboxRun>;
    /**
     * Wait until a run is over.
     * @param {string} runId @param {PollOptions} [options] @returns {Promise<SandboxRun>}
     */
    wait(runId: string, options?: PollOptions): Promise<SandboxRun>;
    /**
     * Read the output while the run writes it: pieces `{stream, text}`. It ends with the run; leaving the loop leaves the run
     * alone.
     * @param {string} runId
     * @param {PollOptions} [options]
     * @returns {AsyncGenerator<{stream: "stdout" | "stderr", text: string}, void, undefined>}
     */
    output(runId: string, options?: PollOptions): AsyncGenerator<{
        stream: "stdout" | "stderr";
        text: string;
    }, void, undefined>;
}
export type SandboxRunRequest = {
    projectId: string;
    /**
     * the project's own where left out
     */
    command?: string[] | undefined;
    /**
     * texts by relative paths
     */
    files?: Record<string, string> | undefined;
    stdin?: string | undefined;
    timeoutSeconds?: number | undefined;
    idempotencyKey?: string | undefined;
};
export type SandboxRun = {
    runId: string;
    projectId: string;
    status: "queued" | "running" | "succeeded" | "failed" | "timed_out" | "cancelling" | "cancelled";
    exitCode: number | null;
    stdout: string;
    stderr: string;
    truncated: boolean;
    error: ExecutionError | null;
    createdAt: string;
    startedAt: string | null;
    finishedAt: string | null;
};
import { Routes } from "./routes.js";
import type { PageOptions } from "./routes.js";
import type { Page } from "./routes.js";
import type { PollOptions } from "./executions.js";
import type { ExecutionError } from "./executions.js";
