/** @typedef {{code: string, message: string}} ExecutionError */
/**
 * @typedef {object} PollOptions
 * @property {number} [pollMs] how long to wait before asking again; 1000 where left out
 * @property {AbortSignal} [signal]
 */
/**
 * Give an execution each time it is asked for, the last time when it is over.
 * @param {() => Promise<any>} read @param {PollOptions} [options]
 */
export function followed(read: () => Promise<any>, { pollMs, signal }?: PollOptions): AsyncGenerator<any, void, unknown>;
/**
 * Wait until an execution is over.
 * @param {() => Promise<any>} read @param {PollOptions} [options]
 */
export function finished(read: () => Promise<any>, options?: PollOptions): Promise<any>;
/** Tell whether an execution is over. */
export function isOver({ status }: {
    status: any;
}): boolean;
export type ExecutionError = {
    code: string;
    message: string;
};
export type PollOptions = {
    /**
     * how long to wait before asking again; 1000 where left out
     */
    pollMs?: number | undefined;
    signal?: AbortSignal | undefined;
};
