export class ContextTokens {
    /**
     * @param {import("./organizations.js").Organizations} organizations of the person
     * @param {{orgId: string, product?: string}} context
     */
    constructor(organizations: import("./organizations.js").Organizations, context: {
        orgId: string;
        product?: string;
    });
    organizations: import("./organizations.js").Organizations;
    context: {
        orgId: string;
        product?: string;
    };
    latest: {
        value: string;
        renewAt: number;
    } | undefined;
    minting: any;
    /** Give a live token. Throws GatewayError with the reason where access has ended. */
    token(): Promise<string>;
    /**
     * Give another token than the one that was refused; callers at once share one.
     * @param {string} [refused] @returns {Promise<string>}
     */
    renew(refused?: string): Promise<string>;
    #private;
}
