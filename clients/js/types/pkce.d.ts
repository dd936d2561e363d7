/**
 * Make a verifier and its challenge.
 * @returns {Promise<{verifier: string, challenge: string}>}
 */
export function newPkce(): Promise<{
    verifier: string;
    challenge: string;
}>;
