/**
 * Describe a POST of JSON.
 * @param {unknown} body @returns {RequestInit}
 */
export function postJson(body: unknown): RequestInit;
export class Session {
    /**
     * @param {object} parts
     * @param {import("./store.js").Store} parts.store
     * @param {import("./transport.js").Transport} parts.transport
     * @param {import("./notices.js").Notices} parts.notices
     */
    constructor({ store, transport, notices }: {
        store: import("./store.js").Store;
        transport: import("./transport.js").Transport;
        notices: import("./notices.js").Notices;
    });
    store: import("./store.js").Store;
    transport: import("./transport.js").Transport;
    notices: import("./notices.js").Notices;
    lock: string;
    /**
     * Read the session that is kept, or undefined.
     * @returns {Promise<any>}
     */
    kept(): Promise<any>;
    /**
     * Keep a new grant; a device session that it replaces is ended.
     * @param {any} grant the token response
     */
    open(grant: any): Promise<void>;
    /**
     * Give a live access token, renewing it in time. Throws SignedOut where there is none to be had.
     * @returns {Promise<string>}
     */
    token(): Promise<string>;
    /**
     * Give another token than the one that was refused. However many tabs ask at once, one refreshes and the others take
     * what it got.
     * @param {string} [refused]
     * @param {string[]} [scopes] what the new token may do, of what was granted; all of it where left out
     * @returns {Promise<string>}
     */
    renew(refused?: string, scopes?: string[]): Promise<string>;
    /**
     * Forget session and key, here and at the gateway. Throws GatewayUnreachable where the gateway could not be told: the
     * device then stays listed in the portal until it is revoked there or ends.
     */
    close(): Promise<void>;
    #private;
}
