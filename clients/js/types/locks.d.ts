/**
 * Run `act` while nobody else runs under the same name.
 * @template T @param {string} name @param {() => Promise<T>} act @returns {Promise<T>}
 */
export function exclusively<T>(name: string, act: () => Promise<T>): Promise<T>;
