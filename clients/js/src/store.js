/** Where a sign-in is kept: in a browser in IndexedDB, elsewhere in memory, or wherever a program keeps it. */

import { IndexedStore } from "./indexed_store.js";
import { MemoryStore } from "./memory_store.js";

/**
 * Keeps named records. Values are as structured cloning takes them; with a `proofKey` of the program's own they are
 * JSON, so that a file or a database can keep them.
 * @typedef {object} Store
 * @property {string} scope whose records these are; one at a time renews a session of the same scope
 * @property {(name: string) => Promise<any>} read gives a record, or undefined
 * @property {(name: string, value: unknown) => Promise<void>} write resolves when the record is safe
 * @property {(name: string, value: any) => Promise<any>} settle writes a record where there is none, and gives the one
 *   that is there then
 * @property {(...names: string[]) => Promise<void>} remove
 */

/**
 * Give the store of this place.
 * @param {string} scope whose records these are: the gateway's address and the client's id
 * @returns {Store}
 */
export function storeHere(scope) {
  return globalThis.indexedDB ? new IndexedStore(scope) : new MemoryStore();
}
