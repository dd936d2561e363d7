/** Access tokens that renew themselves: kept, fetched once however many ask at the same time, renewed in time. */

/** @typedef {{value: string, expiresInSeconds: number}} AccessToken as the gateway gave it */

export const RENEW_BEFORE_SECONDS = 30;

export class CachedTokens {
  #fetch;
  #renewBeforeSeconds;
  /** @type {{value: string, renewAt: number} | undefined} */
  #current;
  /** @type {Promise<string> | undefined} */
  #fetching;

  /**
   * @param {() => Promise<AccessToken>} fetch
   * @param {{renewBeforeSeconds?: number}} [options] 30 where left out
   */
  constructor(fetch, { renewBeforeSeconds = RENEW_BEFORE_SECONDS } = {}) {
    this.#fetch = fetch;
    this.#renewBeforeSeconds = renewBeforeSeconds;
  }

  /**
   * Give a live token, fetching one where needed. Throws what the fetch throws; the next call fetches anew.
   * @returns {Promise<string>}
   */
  async token() {
    const current = this.#current;
    return current && performance.now() < current.renewAt ? current.value : this.#fetched();
  }

  /**
   * Give another token than the one that was refused.
   * @param {string} refused @returns {Promise<string>}
   */
  async renew(refused) {
    if (this.#current?.value === refused) this.#current = undefined;
    return this.token();
  }

  #fetched() {
    this.#fetching ??= this.#refill().finally(() => (this.#fetching = undefined));
    return this.#fetching;
  }

  async #refill() {
    const askedAt = performance.now();
    const { value, expiresInSeconds } = await this.#fetch();
    this.#current = { value, renewAt: askedAt + (expiresInSeconds - this.#renewBeforeSeconds) * 1000 };
    return value;
  }
}
