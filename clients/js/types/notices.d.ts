/** Tells all tabs of this origin that the person signed in or out. */
export const SIGNED_IN: "signedin";
export const SIGNED_OUT: "signedout";
export class Notices {
    /** @param {string} name */
    constructor(name: string);
    listeners: EventTarget;
    channel: BroadcastChannel;
    /**
     * Tell this tab and the others.
     * @param {string} kind
     */
    tell(kind: string): void;
    /**
     * Listen; the function that is returned ends it.
     * @param {string} kind @param {() => void} listener @returns {() => void}
     */
    on(kind: string, listener: () => void): () => void;
}
