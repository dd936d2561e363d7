/**
 * Wait; an aborted signal ends the wait with its reason.
 * @param {number} milliseconds @param {AbortSignal} [signal] @returns {Promise<void>}
 */
export function pause(milliseconds: number, signal?: AbortSignal): Promise<void>;
