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
    this.minting = undefined;
  }

  /** Give a live token. Throws GatewayError with the reason where access has ended. */
  async token() {
    const minted = await this.minting;
    return minted && Date.now() < minted.renewAt ? minted.value : this.renew(minted?.value);
  }

  /**
   * Give another token than the one that was refused; callers at once share one.
   * @param {string} [refused]
   */
  async renew(refused) {
    const minted = await this.minting;
    if (!minted || minted.value === refused) this.minting = this.#keep(this.#mint());
    return (await this.minting).value;
  }

  #keep(minting) {
    minting.catch(() => (this.minting = undefined));
    return minting;
  }

  async #mint() {
    const askedAt = Date.now();
    const token = await this.organizations.contextToken(this.context);
    return { value: token.access_token, renewAt: askedAt + token.expires_in * 1000 - RENEW_BEFORE_MS };
  }
}
