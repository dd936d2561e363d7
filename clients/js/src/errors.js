/**
 * What can go wrong.
 *
 * ClientError
 *   SignInError         signing in was refused, cancelled, or the callback was not expected; `code` says which
 *   SignedOut           there is no session, or it has ended; the person signs in again
 *   InvalidEvent        a request is not an event that the gateway has just signed
 *   InvalidReceipt      a signed receipt is not the gateway's, or does not add up
 *   UnsafeRetry         an SDK repeats a call that was repeated here already; a new key could pay for it twice
 *   ForeignOrigin       a request was about to carry the token to another origin than the gateway's
 *   GatewayUnreachable  the gateway did not answer, or its answer broke off
 *   GatewayError        the gateway refused; `code`, `status`, `param` and `requestId` say why
 */

export class ClientError extends Error {
  /** @param {string} message @param {ErrorOptions} [options] */
  constructor(message, options) {
    super(message, options);
    this.name = new.target.name;
  }
}

export class SignInError extends ClientError {
  /**
   * @param {string} code `access_denied` and the like from the portal, or one of ours: `unexpected_callback`,
   *   `state_mismatch`, `issuer_mismatch`, `invalid_callback`
   * @param {string} [message]
   */
  constructor(code, message) {
    super(message || code);
    /** @readonly */
    this.code = code;
  }
}

export class SignedOut extends ClientError {
  constructor(message = "Nobody is signed in.") {
    super(message);
  }
}

export class InvalidEvent extends ClientError {}

export class InvalidReceipt extends ClientError {}

export class UnsafeRetry extends ClientError {}

export class ForeignOrigin extends ClientError {}

export class GatewayUnreachable extends ClientError {}

export class GatewayError extends ClientError {
  /**
   * @param {number} status
   * @param {{
   *   code: string, message?: string, param?: string | null, details?: Record<string, unknown>,
   *   requestId?: string | null,
   * }} error
   */
  constructor(status, { code, message = "", param = null, details = {}, requestId = null }) {
    super(message || code);
    /** @readonly */
    this.status = status;
    /** @readonly */
    this.code = code;
    /** @readonly */
    this.param = param;
    /** @readonly */
    this.details = details;
    /** @readonly */
    this.requestId = requestId;
  }

  /**
   * Read an error body: the API's shape, that of OAuth (RFC 6749 section 5.2), or that of messages, whose request id is
   * beside the error.
   * @param {number} status @param {any} body @returns {GatewayError}
   */
  static of(status, body) {
    const error = body?.error;
    if (typeof error === "string") {
      const { error_description: message, param, request_id: requestId } = body;
      return new GatewayError(status, { code: error, message, param, requestId });
    }
    if (typeof error?.code === "string") {
      const { code, message, param, details, request_id: requestId = body.request_id } = error;
      return new GatewayError(status, { code, message, param, details, requestId });
    }
    return new GatewayError(status, { code: "unreadable", message: "The answer is not the gateway's." });
  }

  /**
   * Read the error of a refused response.
   * @param {Response} response @returns {Promise<GatewayError>}
   */
  static async from(response) {
    const body = await response.json().catch(() => null);
    const error = GatewayError.of(response.status, body);
    /** @type {{requestId: string | null}} */ (error).requestId ??= response.headers.get("X-Request-Id");
    return error;
  }
}
