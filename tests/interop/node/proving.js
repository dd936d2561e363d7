/** The vendor's package as a caller of the gateway: the test proves, keys and limits each request. */

import OpenAI from "openai";
import { ask } from "./say.js";

/** Give a client whose requests go out under the headers that the test makes for them. */
export function proving(baseURL) {
  const send = async (url, init) => {
    const target = new URL(url);
    const headers = new Headers(init.headers);
    const proved = await ask({ approve: { method: init.method, path: target.pathname } });
    for (const [name, value] of Object.entries(proved)) headers.set(name, value);
    return fetch(url, { ...init, headers });
  };
  return new OpenAI({ baseURL, apiKey: "unused", maxRetries: 0, fetch: send });
}

/** Tell what an error is, as far as a program may act on it. */
export function told(error) {
  return { kind: error.constructor.name, code: error.code, status: error.status ?? null, isOpenAI: error instanceof OpenAI.OpenAIError };
}
