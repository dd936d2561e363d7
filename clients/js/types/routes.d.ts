/** Write a path; what is put into it stays one segment. */
export function path(texts: any, ...values: any[]): string;
/** Write a query of the parameters that are given, or nothing. */
export function query(parameters: any): string;
/**
 * @template T
 * @typedef {{data: T[]}} List
 */
/**
 * @typedef {object} PageOptions
 * @property {number} [limit] how many of the newest: 1 to 100, 20 where left out
 * @property {string} [after] the `lastId` of the page before
 */
/**
 * @template T
 * @typedef {List<T> & {hasMore: boolean, firstId: string | null, lastId: string | null}} Page
 */
export class Routes {
    /** @param {import("./caller.js").Caller} caller */
    constructor(caller: import("./caller.js").Caller);
    /** @private */
    private caller;
    /**
     * Send a request and read its JSON, or throw GatewayError.
     * @param {string} method
     * @param {string} address
     * @param {object} [body]
     * @param {Record<string, string>} [headers]
     * @returns {Promise<any>}
     * @protected
     */
    protected send(method: string, address: string, body?: object, headers?: Record<string, string>): Promise<any>;
}
export type List<T> = {
    data: T[];
};
export type PageOptions = {
    /**
     * how many of the newest: 1 to 100, 20 where left out
     */
    limit?: number | undefined;
    /**
     * the `lastId` of the page before
     */
    after?: string | undefined;
};
export type Page<T> = List<T> & {
    hasMore: boolean;
    firstId: string | null;
    lastId: string | null;
};
