/**
 * What is kept in this browser, in IndexedDB, because only there a CryptoKey can be kept without its bits: the proof
 * key and the session of each gateway. Shared by all tabs of this origin.
 */

const NAME = "account-gateway";
const RECORDS = "records";

export class IndexedStore {
  /** @param {string} scope whose records these are: the gateway's address and the client's id */
  constructor(scope) {
    this.scope = scope;
    this.opened = null;
  }

  /**
   * Read a record, or undefined.
   * @param {string} name @returns {Promise<any>}
   */
  read(name) {
    return this.#run("readonly", (records) => records.get(this.#id(name)));
  }

  /**
   * Write a record; it is on its way to the disk when this resolves.
   * @param {string} name @param {unknown} value
   */
  async write(name, value) {
    await this.#run("readwrite", (records) => records.put(value, this.#id(name)));
  }

  /**
   * Write a record where there is none, and read the one that is there then: of several tabs at once one wins.
   * @param {string} name @param {unknown} value @returns {Promise<any>}
   */
  settle(name, value) {
    return this.#run("readwrite", (records) => {
      const id = this.#id(name);
      const found = records.get(id);
      found.onsuccess = () => found.result === undefined && records.put(value, id);
      return found;
    }).then((found) => found ?? value);
  }

  /**
   * Delete records.
   * @param {...string} names
   */
  async remove(...names) {
    await this.#run("readwrite", (records) => names.map((name) => records.delete(this.#id(name))).at(-1));
  }

  #id(name) {
    return `${this.scope} ${name}`;
  }

  async #run(mode, act) {
    this.opened ??= open(() => (this.opened = null));
    const transaction = (await this.opened).transaction(RECORDS, mode, { durability: "strict" });
    const request = act(transaction.objectStore(RECORDS));
    await completed(transaction);
    return request.result;
  }
}

/** Open the database; `lost` is called when the browser closes it, as it does where the person clears site data. */
function open(lost) {
  return new Promise((resolve, reject) => {
    const request = indexedDB.open(NAME, 1);
    request.onupgradeneeded = () => request.result.createObjectStore(RECORDS);
    request.onsuccess = () => {
      request.result.onclose = lost;
      resolve(request.result);
    };
    request.onerror = () => reject(request.error);
  });
}

function completed(transaction) {
  return new Promise((resolve, reject) => {
    transaction.oncomplete = () => resolve(undefined);
    transaction.onabort = transaction.onerror = () => reject(transaction.error);
  });
}
