/** Tokens that act for an organization, minted from the person's own and ending with it. */

const RENEW_BEFORE_MS = 10_000;

export class ContextTokens {
  /**
   * @param {import("./organizations.js").Organizations} organizations of the person
   * @param {{orgId: string, product?: string}} context
   */
  constructor(organizations, context) {
    this.organizations = organizations;
    this.context = context;
    this.latest = undefined;
    this.minting = undefined;
  }

  /** Give a live token. Throws GatewayError with the reason where access has ended. */
  async token() {
    const latest = this.latest;
    return latest && Date.now() < latest.renewAt ? latest.value : this.renew(latest?.value);
  }

  /**
   * Give another token than the one that was refused; callers at once share one.
   * @param {string} [refused] @returns {Promise<string>}
   */
  async renew(refused) {
    if (this.latest && this.latest.value === refused) this.latest = this.minting = undefined;
    this.minting ??= this.#mint();
    return (await this.minting).value;
  }

  async #mint() {
    const askedAt = Date.now();
    try {
      const token = await this.organizations.contextToken(this.context);
      this.latest = { value: token.access_token, renewAt: askedAt + token.expires_in * 1000 - RENEW_BEFORE_MS };
      return this.latest;
    } catch (error) {
      this.minting = undefined;
      throw error;
    }
  }
}
