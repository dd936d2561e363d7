/**
 * What can go wrong.
 *
 * ClientError
 *   SignInError         signing in was refused, cancelled, or the callback was not expected; `code` says which
 *   SignedOut           there is no session, or it has ended; the person signs in again
 *   ForeignOrigin       a request was about to carry the token to another origin than the gateway's
 *   GatewayUnreachable  the gateway did not answer, or its answer broke off
 *   GatewayError        the gateway refused; `code`, `status`, `param` and `requestId` say why
 */
export class ClientError extends Error {
    /** @param {string} message @param {ErrorOptions} [options] */
    constructor(message: string, options?: ErrorOptions);
}
export class SignInError extends ClientError {
    /**
     * @param {string} code `access_denied` and the like from the portal, or one of ours: `unexpected_callback`,
     *   `state_mismatch`, `issuer_mismatch`, `invalid_callback`
     * @param {string} [message]
     */
    constructor(code: string, message?: string);
    /** @readonly */
    readonly code: string;
}
export class SignedOut extends ClientError {
    constructor(message?: string);
}
export class ForeignOrigin extends ClientError {
}
export class GatewayUnreachable extends ClientError {
}
export class GatewayError extends ClientError {
    /**
     * Read an error body, the API's shape or that of OAuth (RFC 6749 section 5.2).
     * @param {number} status @param {any} body @returns {GatewayError}
     */
    static of(status: number, body: any): GatewayError;
    /**
     * Read the error of a refused response.
     * @param {Response} response @returns {Promise<GatewayError>}
     */
    static from(response: Response): Promise<GatewayError>;
    /**
     * @param {number} status
     * @param {{
     *   code: string, message?: string, param?: string | null, details?: Record<string, unknown>,
     *   requestId?: string | null,
     * }} error
     */
    constructor(status: number, { code, message, param, details, requestId }: {
        code: string;
        message?: string;
        param?: string | null;
        details?: Record<string, unknown>;
        requestId?: string | null;
    });
    /** @readonly */
    readonly status: number;
    /** @readonly */
    readonly code: string;
    /** @readonly */
    readonly param: string | null;
    /** @readonly */
    readonly details: Record<string, unknown>;
    /** @readonly */
    readonly requestId: string | null;
}
