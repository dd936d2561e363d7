/** One at a time, across all tabs of this origin where the browser has Web Locks, else within this program. */

const queues = new Map();

/**
 * Run `act` while nobody else runs under the same name.
 * @template T @param {string} name @param {() => Promise<T>} act @returns {Promise<T>}
 */
export function exclusively(name, act) {
  if (globalThis.navigator?.locks) return Promise.resolve(navigator.locks.request(name, act));
  const turn = (queues.get(name) ?? Promise.resolve()).then(act, act);
  const ended = turn.then(forget, forget);
  queues.set(name, ended);
  return turn;

  function forget() {
    if (queues.get(name) === ended) queues.delete(name);
  }
}
