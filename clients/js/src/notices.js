/** Tells all tabs of this origin that the person signed in or out. */

export const SIGNED_IN = "signedin";
export const SIGNED_OUT = "signedout";

export class Notices {
  /** @param {string} name */
  constructor(name) {
    this.listeners = new EventTarget();
    this.channel = new BroadcastChannel(name);
    this.channel.onmessage = ({ data }) => this.listeners.dispatchEvent(new Event(data));
  }

  /**
   * Tell this tab and the others.
   * @param {string} kind
   */
  tell(kind) {
    this.channel.postMessage(kind);
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
