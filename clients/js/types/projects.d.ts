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
    list({ limit, after }?: PageOptions): Promise<Page<Project>>;
    /** @param {string} projectId @returns {Promise<ExecutionConfig>} */
    executionConfig(projectId: string): Promise<ExecutionConfig>;
    /**
     * Replace the whole execution configuration; what is left out gets its default. With `version`, only that version is
     * replaced: the code `revision_conflict` says that somebody was faster.
     * @param {string} projectId
     * @param {ExecutionConfigRequest} config
     * @param {{version?: number}} [options]
     * @returns {Promise<ExecutionConfig>}
     */
    configure(projectId: string, config: ExecutionConfigRequest, { version }?: {
        version?: number;
    }): Promise<ExecutionConfig>;
}
export type Project = {
    projectId: string;
    name: string;
    product: string;
    createdAt: string;
};
/**
 * What is left out of a PUT gets its default.
 */
export type ExecutionConfigRequest = {
    runtime?: string;
    command?: string[];
    environment?: Record<string, string>;
    timeoutSeconds?: number;
    memoryMb?: number;
    network?: "none" | "egress";
};
export type ExecutionConfig = Required<ExecutionConfigRequest> & {
    projectId: string;
    version: number;
    updatedAt: string;
};
import { Routes } from "./routes.js";
import type { PageOptions } from "./routes.js";
import type { Page } from "./routes.js";
