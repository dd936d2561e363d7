/** Bytes and text: base64, base64url without padding (RFC 4648 section 5), SHA-256, random values. */

const utf8 = new TextEncoder();

/**
 * Write bytes as base64url.
 * @param {ArrayBuffer | Uint8Array} bytes @returns {string}
 */
export function base64url(bytes) {
  return base64(bytes).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}

/**
 * Write bytes as base64.
 * @param {ArrayBuffer | Uint8Array} bytes @returns {string}
 */
export function base64(bytes) {
  return btoa(Array.from(new Uint8Array(bytes), (byte) => String.fromCharCode(byte)).join(""));
}

/**
 * Read bytes that were written as base64 or base64url.
 * @param {string} text @returns {Uint8Array<ArrayBuffer>}
 */
export function bytesOf(text) {
  return Uint8Array.from(atob(text.replaceAll("-", "+").replaceAll("_", "/")), (character) => character.charCodeAt(0));
}

/**
 * Write a value as JSON in base64url.
 * @param {unknown} value @returns {string}
 */
export function base64urlJson(value) {
  return base64url(utf8.encode(JSON.stringify(value)));
}

/**
 * Hash text and write the digest as base64url.
 * @param {string} text @returns {Promise<string>}
 */
export async function sha256(text) {
  return base64url(await crypto.subtle.digest("SHA-256", utf8.encode(text)));
}

/**
 * Make an unpredictable value of 43 characters: 256 bits.
 * @returns {string}
 */
export function randomText() {
  return base64url(crypto.getRandomValues(new Uint8Array(32)));
}
