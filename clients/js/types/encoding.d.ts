/**
 * Write bytes as base64url.
 * @param {ArrayBuffer | Uint8Array} bytes @returns {string}
 */
export function base64url(bytes: ArrayBuffer | Uint8Array): string;
/**
 * Write bytes as base64.
 * @param {ArrayBuffer | Uint8Array} bytes @returns {string}
 */
export function base64(bytes: ArrayBuffer | Uint8Array): string;
/**
 * Read bytes that were written as base64 or base64url.
 * @param {string} text @returns {Uint8Array<ArrayBuffer>}
 */
export function bytesOf(text: string): Uint8Array<ArrayBuffer>;
/**
 * Write a value as JSON in base64url.
 * @param {unknown} value @returns {string}
 */
export function base64urlJson(value: unknown): string;
/**
 * Hash text and write the digest as base64url.
 * @param {string} text @returns {Promise<string>}
 */
export function sha256(text: string): Promise<string>;
/**
 * Make an unpredictable value of 43 characters: 256 bits.
 * @returns {string}
 */
export function randomText(): string;
