/**
 * Ask for the account's key.
 * @param {import("./caller.js").Caller} caller @returns {Promise<{kid: string, key: Uint8Array}>}
 */
export function accountKey(caller: import("./caller.js").Caller): Promise<{
    kid: string;
    key: Uint8Array;
}>;
