/** Speaks with the test: one JSON value a line, both ways. */

import { createInterface } from "node:readline";

const lines = createInterface({ input: process.stdin })[Symbol.asyncIterator]();

/** Tell the test something. */
export function say(value) {
  process.stdout.write(`${JSON.stringify(value)}\n`);
}

/** Ask the test for something. */
export async function ask(question) {
  say(question);
  return JSON.parse((await lines.next()).value);
}

/** Tell the result and end. */
export function done(result) {
  say({ done: result });
  process.exit(0);
}
