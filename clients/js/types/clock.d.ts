export class Clock {
    offsetSeconds: number;
    /** @returns {number} Unix seconds */
    now(): number;
    /**
     * Take the time from an answer; true where this device's clock was off by more than a few seconds.
     * @param {Response} response @returns {boolean}
     */
    learn(response: Response): boolean;
}
