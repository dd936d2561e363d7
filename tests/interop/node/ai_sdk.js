/** The Vercel AI SDK over a product's server, with each of its providers: it knows nothing of keys, maxima or receipts. */

import { createAnthropic } from "@ai-sdk/anthropic";
import { createOpenAI } from "@ai-sdk/openai";
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { embed, generateText, Output, stepCountIs, streamText, tool } from "ai";
import { z } from "zod";
import { ALICE, SCOPES, spentBy, studio, unreliable } from "./server.js";
import { done } from "./say.js";

globalThis.AI_SDK_LOG_WARNINGS = false;
const [url, pemFile] = process.argv.slice(2);
const { losing, send } = unreliable();
const { gatewayOf, sent } = await studio(url, pemFile, { send });
const gateway = gatewayOf(ALICE, [...SCOPES, "infer:embedding"]);
let receipts = [];
const fetch = gateway.sdkFetch({ maxCostMicrousd: 20_000, onReceipt: (receipt) => void receipts.push(receipt) });
const shared = { baseURL: gateway.apiUrl, apiKey: "unused", fetch };
const openai = createOpenAI(shared);
const compatible = createOpenAICompatible({ ...shared, name: "gateway", includeUsage: true, supportsStructuredOutputs: true });
const models = {
  responses: openai("fast"),
  chat: openai.chat("fast"),
  compatible: compatible("fast"),
  messages: createAnthropic(shared)("fast"),
};
const maxOutputTokens = 200;
const weather = tool({
  description: "Tells the weather",
  inputSchema: z.object({ city: z.string() }),
  execute: async () => ({ degrees: 20 }),
});

async function streamed(model) {
  const stream = streamText({ model, maxOutputTokens, prompt: "Hello" });
  let text = "";
  for await (const delta of stream.textStream) text += delta;
  return { text, tokens: (await stream.usage).outputTokens };
}

async function called(model) {
  const call = { model, maxOutputTokens, prompt: "How is the weather?", tools: { weather }, stopWhen: stepCountIs(2) };
  const { steps, text } = await generateText(call);
  return { city: typeof steps[0].toolCalls[0].input.city, text };
}

async function structured(model) {
  const schema = z.object({ name: z.string(), age: z.number() });
  const { output } = await generateText({ model, maxOutputTokens, prompt: "Hello", output: Output.object({ schema }) });
  return { name: typeof output.name, age: typeof output.age };
}

/** Leave a stream after two pieces of its text. */
async function left(model) {
  const leaving = new AbortController();
  const stream = streamText({ model, maxOutputTokens, prompt: "Hello", abortSignal: leaving.signal });
  let pieces = 0;
  let isAborted = false;
  for await (const part of stream.fullStream) {
    if (part.type === "text-delta" && (pieces += 1) === 2) leaving.abort();
    isAborted ||= part.type === "abort";
  }
  return { isAborted };
}

/** Have the SDK repeat a call that was paid, and whose answer a proxy replaced by an error. */
async function repeated(model, name) {
  losing.answers = 2;
  losing.answer = () => new Response("<html>Bad gateway</html>", { status: 502, headers: { "retry-after-ms": "1" } });
  const { text } = await generateText({ model, maxOutputTokens, prompt: `Hello, ${name}`, maxRetries: 2 });
  losing.answer = undefined;
  return { text };
}

/** Do something, and tell the receipts that came meanwhile. */
async function receiptsOf(act) {
  receipts = [];
  return { ...(await act()), receipts };
}

const found = {};
for (const [name, model] of Object.entries(models)) {
  found[name] = await receiptsOf(async () => ({ whole: (await generateText({ model, maxOutputTokens, prompt: "Hello" })).text }));
  for (const [what, act] of Object.entries({ streamed, called, structured })) {
    found[name][what] = await receiptsOf(() => act(model));
  }
  sent.length = 0;
  found[name].repeated = await receiptsOf(() => spentBy(gateway, () => repeated(model, name)));
  found[name].repeated.keys = new Set(sent.map(([, , key]) => key).filter(Boolean)).size;
}
const embedded = await receiptsOf(() => embed({ model: openai.embedding("embedding"), value: "Hello" }));
const refused = await generateText({ model: openai.chat("reasoning"), prompt: "Hello" }).catch(({ statusCode, responseBody }) => [
  statusCode,
  JSON.parse(responseBody).error.code,
]);
// Last, because what a stream that was left costs is known later, and would count in what the others spent.
for (const [name, model] of Object.entries(models)) found[name].left = await receiptsOf(() => left(model));
done({ found, embedded: [embedded.embedding.length > 0, embedded.receipts.length], refused });
