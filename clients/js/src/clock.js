/** The gateway's time, as far as it is known: proofs must be fresh by that clock, whatever this device's says. */

const NOTABLE_SECONDS = 5;

export class Clock {
  constructor() {
    this.offsetSeconds = 0;
  }

  /** @returns {number} Unix seconds */
  now() {
    return Date.now() / 1000 + this.offsetSeconds;
  }

  /**
   * Take the time from an answer; true where this device's clock was off by more than a few seconds.
   * @param {Response} response @returns {boolean}
   */
  learn(response) {
    const told = Date.parse(response.headers.get("Date") ?? "") / 1000;
    if (Number.isNaN(told) || Math.abs(told - this.now()) <= NOTABLE_SECONDS) return false;
    this.offsetSeconds = told - Date.now() / 1000;
    return true;
  }
}
