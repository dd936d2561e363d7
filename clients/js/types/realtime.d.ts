/**
 * @typedef {object} RealtimeOptions
 * @property {string} [model] an alias that serves sessions; "realtime" where left out
 * @property {number} maxCostMicrousd the most that the session may cost
 * @property {string} [idempotencyKey] characters of a subprotocol only: letters, digits and !#$%&'*+-.^_`|~
 * @property {typeof WebSocket} [WebSocket]
 */
/**
 * A live session. Iterating it gives the vendor's events and the gateway's own, until it is over.
 * @implements {AsyncIterable<any>}
 */
export class RealtimeSession implements AsyncIterable<any> {
    /**
     * Open a session. Throws GatewayUnreachable where the handshake was refused: a browser does not say why.
     * @param {import("./caller.js").Caller} caller @param {RealtimeOptions} options @returns {Promise<RealtimeSession>}
     */
    static open(caller: import("./caller.js").Caller, { model, maxCostMicrousd, idempotencyKey, ...options }: RealtimeOptions): Promise<RealtimeSession>;
    /**
     * @param {import("./caller.js").Caller} caller
     * @param {string} idempotencyKey
     * @private
     */
    private constructor();
    /** @readonly */
    readonly idempotencyKey: string;
    /**
     * The latest `service.usage`: what the session has cost so far.
     * @type {{usageId: string, chargeMicrousd: number, holdMicrousd: number} | null}
     */
    usage: {
        usageId: string;
        chargeMicrousd: number;
        holdMicrousd: number;
    } | null;
    /**
     * Why the session is over, once it is; 4402 where its maximum is spent.
     * @type {{code: number, reason: string} | null}
     */
    closed: {
        code: number;
        reason: string;
    } | null;
    /**
     * Send an event of the vendor's realtime protocol.
     * @param {object} event
     */
    send(event: object): void;
    /** End the session; iterating it ends too. */
    close(): void;
    /**
     * Give every event, also those that came before somebody listened.
     * @returns {AsyncGenerator<any, void, undefined>}
     */
    [Symbol.asyncIterator](): AsyncGenerator<any, void, undefined>;
    #private;
}
export type RealtimeOptions = {
    /**
     * an alias that serves sessions; "realtime" where left out
     */
    model?: string | undefined;
    /**
     * the most that the session may cost
     */
    maxCostMicrousd: number;
    /**
     * characters of a subprotocol only: letters, digits and !#$%&'*+-.^_`|~
     */
    idempotencyKey?: string | undefined;
    WebSocket?: {
        new (url: string | URL, protocols?: string | string[]): WebSocket;
        prototype: WebSocket;
        readonly CONNECTING: 0;
        readonly OPEN: 1;
        readonly CLOSING: 2;
        readonly CLOSED: 3;
    } | undefined;
};
