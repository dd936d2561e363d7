/**
 * @typedef {object} Attempt
 * @property {string} state
 * @property {string} verifier
 * @property {string} redirectUri
 * @property {boolean} deviceSession
 * @property {string} [deviceName]
 * @property {string} [returnTo]
 * @property {number} startedAt
 */
/**
 * Keep an attempt; an earlier one of this tab can no longer be answered.
 * @param {Attempt} attempt
 */
export function keep(attempt: Attempt): void;
/**
 * Take the attempt out: whatever the callback says, it is answered now. Undefined where none waits.
 * @returns {Attempt | undefined}
 */
export function take(): Attempt | undefined;
export type Attempt = {
    state: string;
    verifier: string;
    redirectUri: string;
    deviceSession: boolean;
    deviceName?: string | undefined;
    returnTo?: string | undefined;
    startedAt: number;
};
