/**
 * @typedef {object} GatewayOptions
 * @property {string} url the gateway's address, which is also its issuer
 * @property {string} [portalUrl] where people sign in; the gateway's own address where left out
 * @property {string} [clientId] this app's origin where left out
 * @property {string} [redirectUri] the page that finishes signing in; this one where left out
 * @property {typeof globalThis.fetch} [fetch]
 */
/**
 * @typedef {object} SignInOptions
 * @property {string[]} scopes
 * @property {boolean} [deviceSession] whether to stay signed in, for 30 days; true where left out
 * @property {string} [deviceName] how the portal lists this device, 1 to 120 characters
 * @property {string} [returnTo] handed back by `completeSignIn`
 * @property {string} [product] the look of the portal
 * @property {"light" | "dark"} [theme] the look of the portal
 */
export class Gateway extends Account {
    /** @param {GatewayOptions} options */
    constructor({ url, portalUrl, clientId, redirectUri, fetch }: GatewayOptions);
    /** @private */
    private url;
    /** @private */
    private portalUrl;
    /** @private */
    private clientId;
    /** @private */
    private redirectUri;
    /** @private */
    private transport;
    /** @private */
    private session;
    /** @private */
    private notices;
    /**
     * Go to the portal to sign in; this page is left.
     * @param {SignInOptions} options
     */
    signIn(options: SignInOptions): Promise<void>;
    /**
     * Begin to sign in and give the address to go to.
     * @param {SignInOptions} options @returns {Promise<string>}
     */
    beginSignIn({ scopes, deviceSession, deviceName, returnTo, product, theme }: SignInOptions): Promise<string>;
    /**
     * Finish signing in where this page was opened by the portal's answer; null where it was not.
     *
     * The answer is taken out of the address bar before anything else. Throws SignInError where it was not expected, not
     * ours, or a refusal, and GatewayError where the code is refused. A session that is open already stays as it is then.
     * @returns {Promise<{scope: string, returnTo?: string} | null>}
     */
    completeSignIn(): Promise<{
        scope: string;
        returnTo?: string;
    } | null>;
    /** Tell whether somebody is signed in, as far as this browser knows. */
    isSignedIn(): Promise<boolean>;
    /**
     * Describe the device session that is kept here, without its credentials; null where there is none.
     * @returns {Promise<{id: string, name: string, expiresAt: Date} | null>}
     */
    device(): Promise<{
        id: string;
        name: string;
        expiresAt: Date;
    } | null>;
    /**
     * Renew the access token now, though it may still be good.
     * @param {{scopes?: string[]}} [options] narrower scopes hold until the next refresh; the grant itself stays whole
     */
    refresh({ scopes }?: {
        scopes?: string[];
    }): Promise<void>;
    /** Sign out: the device session ends at the gateway, and key and session are forgotten here, in every tab. */
    signOut(): Promise<void>;
    /**
     * Listen for a sign-in in any tab; the function that is returned ends it.
     * @param {() => void} listener
     */
    onSignedIn(listener: () => void): () => void;
    /**
     * Listen for the end of the session: signed out in any tab, revoked in the portal, or expired.
     * @param {() => void} listener
     */
    onSignedOut(listener: () => void): () => void;
    #private;
}
export type GatewayOptions = {
    /**
     * the gateway's address, which is also its issuer
     */
    url: string;
    /**
     * where people sign in; the gateway's own address where left out
     */
    portalUrl?: string | undefined;
    /**
     * this app's origin where left out
     */
    clientId?: string | undefined;
    /**
     * the page that finishes signing in; this one where left out
     */
    redirectUri?: string | undefined;
    fetch?: typeof fetch | undefined;
};
export type SignInOptions = {
    scopes: string[];
    /**
     * whether to stay signed in, for 30 days; true where left out
     */
    deviceSession?: boolean | undefined;
    /**
     * how the portal lists this device, 1 to 120 characters
     */
    deviceName?: string | undefined;
    /**
     * handed back by `completeSignIn`
     */
    returnTo?: string | undefined;
    /**
     * the look of the portal
     */
    product?: string | undefined;
    /**
     * the look of the portal
     */
    theme?: "light" | "dark" | undefined;
};
import { Account } from "./account.js";
