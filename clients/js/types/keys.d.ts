/** The name of the key's record. */
export const KEY_RECORD: "key";
export class ProofKey {
    /**
     * Make a key that can sign and cannot be exported.
     * @returns {Promise<ProofKey>}
     */
    static generate(): Promise<ProofKey>;
    /**
     * Take a pair as WebCrypto or IndexedDB gives it.
     * @param {CryptoKeyPair} pair @returns {Promise<ProofKey>}
     */
    static of(pair: CryptoKeyPair): Promise<ProofKey>;
    /**
     * Find the key that this browser keeps, making it where there is none; tabs that ask at once get the same one.
     * @param {import("./store.js").Store} store @returns {Promise<ProofKey>}
     */
    static kept(store: import("./store.js").Store): Promise<ProofKey>;
    /**
     * @param {CryptoKeyPair} pair
     * @param {{kty: string, crv: string, x: string, y: string}} jwk the public part
     * @param {string} thumbprint
     */
    constructor(pair: CryptoKeyPair, jwk: {
        kty: string;
        crv: string;
        x: string;
        y: string;
    }, thumbprint: string);
    /** @readonly */
    readonly pair: CryptoKeyPair;
    /** @readonly */
    readonly jwk: {
        kty: string;
        crv: string;
        x: string;
        y: string;
    };
    /**
     * RFC 7638.
     * @readonly
     */
    readonly thumbprint: string;
    /**
     * Sign ASCII text; the signature in base64url, as JWS has it (RFC 7518 section 3.4).
     * @param {string} text @returns {Promise<string>}
     */
    sign(text: string): Promise<string>;
}
