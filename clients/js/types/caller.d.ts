/**
 * @typedef {object} Tokens
 * @property {() => Promise<string>} token gives a live token
 * @property {(refused: string) => Promise<string>} renew gives another one than the one that was refused
 */
export class Caller {
    /** @param {import("./transport.js").Transport} transport @param {Tokens} tokens */
    constructor(transport: import("./transport.js").Transport, tokens: Tokens);
    transport: import("./transport.js").Transport;
    tokens: Tokens;
    /**
     * Send a request with token and proof, once more with another token where the first was refused.
     * @param {string} path @param {RequestInit} [init] @returns {Promise<Response>}
     */
    fetch(path: string, init?: RequestInit): Promise<Response>;
    /**
     * Send a request as `fetch` does and read its JSON, or throw GatewayError.
     * @param {string} path @param {RequestInit} [init] @returns {Promise<any>}
     */
    json(path: string, init?: RequestInit): Promise<any>;
}
export type Tokens = {
    /**
     * gives a live token
     */
    token: () => Promise<string>;
    /**
     * gives another one than the one that was refused
     */
    renew: (refused: string) => Promise<string>;
};
