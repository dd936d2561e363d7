/**
 * Read the headers of a metered answer; null where the request was not metered.
 * @param {Headers} headers @returns {Receipt | null}
 */
export function receiptOf(headers: Headers): Receipt | null;
/**
 * Read the comment that closes a stream; undefined where a comment is another one.
 * @param {string} comment
 * @returns {number | null | undefined} the charge
 */
export function chargeIn(comment: string): number | null | undefined;
export type Receipt = {
    usageId: string;
    /**
     * what was set aside before the call
     */
    holdMicrousd: number | null;
    /**
     * what was kept; null while a stream runs or an outcome is open
     */
    chargeMicrousd: number | null;
    /**
     * whether a stored answer came back, for which nothing is charged again
     */
    replayed: boolean;
};
