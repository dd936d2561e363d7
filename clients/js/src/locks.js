/** One at a time, across all tabs of this origin where the browser has Web Locks, else within this page. */

const queues = new Map();

/**
 * Run `act` while nobody else runs under the same name.
 * @template T @param {string} name @param {() => Promise<T>} act @returns {Promise<T>}
 */
export function exclusively(name, act) {
  if (globalThis.navigator?.locks) return Promise.resolve(navigator.locks.request(name, act));
  const turn = (queues.get(name) ?? Promise.resolve()).then(act, act);
  queues.set(name, turn.catch(() => undefined));
  return turn;
}
