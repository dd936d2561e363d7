/** A product's server in JavaScript: signs assertions by a key in a file, and calls as an account. */

import { readFileSync } from "node:fs";
import { Gateway, ProductKey, ProductServer } from "../../../clients/js/src/index.js";

export const ISSUER = "https://demo.studio.example";
export const ALICE = "did:web:demo.studio.example:alice";
export const SCOPES = ["wallet:read", "usage:read", "infer:fast"];

/** Give the demo's product, and the requests that it and its gateways make: path, status and key. `send` makes them. */
export async function studio(url, pemFile, { send = fetch, ...options } = {}) {
  const key = await ProductKey.from(readFileSync(pemFile, "utf8"));
  const sent = [];
  const noting = async (address, init) => {
    const response = await send(address, init);
    sent.push([new URL(address).pathname, response.status, new Headers(init.headers).get("Idempotency-Key")]);
    return response;
  };
  const product = new ProductServer({ url, issuer: ISSUER, product: "studio", key, fetch: noting, ...options });
  const gatewayOf = (did = ALICE, scopes = SCOPES) => new Gateway({ url, tokens: product.tokensFor(did, scopes), fetch: noting });
  return { product, gatewayOf, sent };
}

/** Do something and tell what the wallet paid for it. */
export async function spentBy(gateway, act) {
  const before = await gateway.wallet();
  const result = await act();
  return { ...result, spent: before.availableMicrousd - (await gateway.wallet()).availableMicrousd };
}

/** Let the client's network lose answers: `losing.answers` counts down, of successful answers alone. */
export function unreliable() {
  const losing = { answers: 0 };
  const send = async (url, init) => {
    const response = await fetch(url, init);
    if (!response.ok || losing.answers <= 0) return response;
    losing.answers -= 1;
    await response.text();
    return losing.answer?.() ?? Promise.reject(new TypeError("lost"));
  };
  return { losing, send };
}
