/** What a proof must be fresh by: the gateway's time, whatever this device's clock says, and the gateway's nonce. */

const NOTABLE_SECONDS = 5;

export class Freshness {
  constructor() {
    this.offsetSeconds = 0;
    /**
     * The nonce that the gateway gave last. RFC 9449 section 8.
     * @type {string | undefined}
     */
    this.nonce = undefined;
  }

  /** @returns {number} Unix seconds */
  now() {
    return Date.now() / 1000 + this.offsetSeconds;
  }

  /**
   * Take the time from an answer; true where this device's clock was off by more than a few seconds.
   * @param {Headers} headers @returns {boolean}
   */
  learnTime(headers) {
    const told = Date.parse(headers.get("Date") ?? "") / 1000;
    if (Number.isNaN(told) || Math.abs(told - this.now()) <= NOTABLE_SECONDS) return false;
    this.offsetSeconds = told - Date.now() / 1000;
    return true;
  }

  /** @param {Headers} headers */
  learnNonce(headers) {
    this.nonce = headers.get("DPoP-Nonce") ?? this.nonce;
  }
}
