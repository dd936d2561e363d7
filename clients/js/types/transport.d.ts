/**
 * Read an answer's JSON; undefined where there is no content. Throws GatewayError for a refusal.
 * @param {Response} response @returns {Promise<any>}
 */
export function readJson(response: Response): Promise<any>;
/**
 * Await what may fail on the way; what the caller aborted stays an AbortError.
 * @template T @param {() => Promise<T>} act @param {string} where @returns {Promise<T>}
 */
export function reach<T>(act: () => Promise<T>, where: string): Promise<T>;
export class Transport {
    /**
     * @param {object} options
     * @param {string} options.baseUrl
     * @param {() => Promise<import("./keys.js").ProofKey>} options.key
     * @param {typeof fetch} [options.fetch]
     */
    constructor({ baseUrl, key, fetch }: {
        baseUrl: string;
        key: () => Promise<import("./keys.js").ProofKey>;
        fetch?: typeof globalThis.fetch | undefined;
    });
    baseUrl: string;
    key: () => Promise<import("./keys.js").ProofKey>;
    clock: Clock;
    nonce: any;
    send: typeof fetch;
    /**
     * Send a request with a proof, and an access token where one is given. A proof that is refused for its nonce or its
     * time is made again, once each. An answer of whatever status is returned; GatewayUnreachable is thrown without one.
     * @param {string} path a path of the gateway, or its absolute URL
     * @param {RequestInit} [init]
     * @param {string} [accessToken]
     * @returns {Promise<Response>}
     */
    request(path: string, init?: RequestInit, accessToken?: string): Promise<Response>;
    /**
     * Send a request as `request` does and read its JSON, or throw GatewayError.
     * @param {string} path @param {RequestInit} [init] @param {string} [accessToken] @returns {Promise<any>}
     */
    json(path: string, init?: RequestInit, accessToken?: string): Promise<any>;
    #private;
}
import { Clock } from "./clock.js";
