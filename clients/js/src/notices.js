/** Tells that the person signed in or out: this program, and in a browser all tabs of this origin. */

export const SIGNED_IN = "signedin";
export const SIGNED_OUT = "signedout";

export class Notices {
  /** @param {string} [channel] the tabs' common one; none where left out */
  constructor(channel) {
    this.listeners = new EventTarget();
    this.channel = channel === undefined ? undefined : new BroadcastChannel(channel);
    if (this.channel) this.channel.onmessage = ({ data }) => this.listeners.dispatchEvent(new Event(data));
  }

  /**
   * Tell everybody.
   * @param {string} kind
   */
  tell(kind) {
    this.channel?.postMessage(kind);
    this.listeners.dispatchEvent(new Event(kind));
  }

  /**
   * Listen; the function that is returned ends it.
   * @param {string} kind @param {() => void} listener @returns {() => void}
   */
  on(kind, listener) {
    const heard = () => listener();
    this.listeners.addEventListener(kind, heard);
    return () => this.listeners.removeEventListener(kind, heard);
  }
}
