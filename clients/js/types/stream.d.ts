/**
 * A metered answer that comes as a stream; whoever stops reading cancels the call.
 * @implements {AsyncIterable<any>}
 */
export class Stream implements AsyncIterable<any> {
    /** @param {Response} response @param {string} idempotencyKey */
    constructor(response: Response, idempotencyKey: string);
    /** @readonly */
    readonly response: Response;
    /**
     * Send the call again with this key after a stream that broke off: it is not paid twice.
     * @readonly
     */
    readonly idempotencyKey: string;
    /**
     * The charge is there once the stream has ended.
     * @type {import("./receipts.js").Receipt | null}
     */
    receipt: import("./receipts.js").Receipt | null;
    /**
     * Give the text as it grows, of chat completions and of responses alike.
     * @returns {AsyncGenerator<string, void, undefined>}
     */
    text(): AsyncGenerator<string, void, undefined>;
    /**
     * Give each event's JSON. Throws GatewayError for an error event, GatewayUnreachable where the stream breaks off.
     * @returns {AsyncGenerator<any, void, undefined>}
     */
    [Symbol.asyncIterator](): AsyncGenerator<any, void, undefined>;
    #private;
}
