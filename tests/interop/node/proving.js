/** The vendors' packages as callers of the gateway: the test proves, keys and limits each request. */

import OpenAI from "openai";
import { ask } from "./say.js";

/** Put the headers that the test makes for a request on it. */
export async function proved(url, init) {
  const headers = new Headers(init.headers);
  const made = await ask({ approve: { method: init.method.toUpperCase(), path: new URL(url).pathname } });
  for (const [name, value] of Object.entries(made)) headers.set(name, value);
  return { ...init, headers };
}

/** Send a request so. */
export async function provingFetch(url, init) {
  return fetch(url, await proved(url, init));
}

/** Give a client of OpenAI's package whose requests go out so. */
export function proving(baseURL) {
  return new OpenAI({ baseURL, apiKey: "unused", maxRetries: 0, fetch: provingFetch });
}

/** Tell what an error is, as far as a program may act on it. */
export function told(error) {
  return { kind: error.constructor.name, code: error.code, status: error.status ?? null, isOpenAI: error instanceof OpenAI.OpenAIError };
}
