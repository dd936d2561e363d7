/** Keeps records as long as the program runs, for one person at one gateway. */

export class MemoryStore {
  /** @type {Map<string, unknown>} */
  #records = new Map();

  constructor() {
    /** @readonly */
    this.scope = crypto.randomUUID();
  }

  /** @param {string} name @returns {Promise<any>} */
  async read(name) {
    return this.#records.get(name);
  }

  /** @param {string} name @param {unknown} value */
  async write(name, value) {
    this.#records.set(name, value);
  }

  /** @param {string} name @param {any} value @returns {Promise<any>} */
  async settle(name, value) {
    if (!this.#records.has(name)) this.#records.set(name, value);
    return this.#records.get(name);
  }

  /** @param {...string} names */
  async remove(...names) {
    for (const name of names) this.#records.delete(name);
  }
}
