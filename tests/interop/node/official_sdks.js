/** Both vendors' packages through the browser client's `fetch`. */

import Anthropic from "@anthropic-ai/sdk";
import OpenAI from "openai";
import { zodResponseFormat, zodTextFormat } from "openai/helpers/zod";
import { z } from "zod";
import { signIn } from "./account.js";
import { done } from "./say.js";

const [baseUrl, assertion] = process.argv.slice(2);
const losing = { answers: 0 };
const { account } = await signIn(baseUrl, assertion, async (url, init) => {
  const response = await fetch(url, init);
  if (!response.ok || (losing.answers -= 1) < 0) return response;
  await response.text();
  throw new Error("lost");
});
const messages = [{ role: "user", content: "Hello" }];
const call = { model: "fast", max_tokens: 100, messages };
const chat = { model: "fast", messages, max_tokens: 100 };

/** Give both clients, and the list of their receipts. */
function sdks(options = {}) {
  const receipts = [];
  const made = account.sdkFetch({ maxCostMicrousd: 20_000, onReceipt: (receipt) => receipts.push(receipt) });
  const shared = { apiKey: "unused", fetch: made, maxRetries: 0, ...options };
  const anthropic = new Anthropic({ baseURL: account.baseUrl, ...shared });
  return { receipts, anthropic, openai: new OpenAI({ baseURL: account.apiUrl, ...shared }) };
}

async function spentBy(act) {
  const before = await account.wallet();
  const result = await act();
  return { ...result, spent: before.availableMicrousd - (await account.wallet()).availableMicrousd };
}

async function paid() {
  const { receipts, anthropic, openai } = sdks();
  const message = (await anthropic.messages.create(call)).content[0].text;
  const streamed = await anthropic.messages.stream(call).finalText();
  const completion = (await openai.chat.completions.create(chat)).choices[0].message.content;
  const chatted = await openai.chat.completions.stream(chat).finalContent();
  return { message, streamed, completion, chatted, receipts };
}

async function lost() {
  const { receipts, anthropic } = sdks();
  losing.answers = 1;
  return { text: await anthropic.messages.stream(call).finalText(), receipts };
}

async function refusal(act) {
  return act().then(
    () => null,
    (error) => [error.constructor.name, error.status, error.code ?? error.error?.error?.code],
  );
}

async function refusals() {
  const { anthropic, openai } = sdks();
  const headers = { "x-service-max-cost-microusd": "1" };
  return {
    anthropic: await refusal(() => anthropic.messages.create({ ...call, model: "reasoning" })),
    openai: await refusal(() => openai.chat.completions.create({ ...chat, model: "reasoning" })),
    cost: await refusal(() => anthropic.messages.create(call, { headers })),
  };
}

/** Have an SDK repeat a call whose answers were lost as often as the client asks for them. */
async function repeating() {
  const { anthropic, receipts } = sdks({ maxRetries: 1 });
  losing.answers = 4;
  return { text: (await anthropic.messages.create(call)).content[0].text, receipts };
}

/** Ask for a tool's arguments and for an object, whole and as a stream. */
async function shaped() {
  const { anthropic, openai, receipts } = sdks();
  const person = z.object({ name: z.string(), age: z.number() });
  const weather = { name: "weather", description: "Tells the weather", parameters: z.toJSONSchema(z.object({ city: z.string() })) };
  const text = { format: zodTextFormat(person, "person") };
  const parsed = await openai.chat.completions.parse({ ...chat, response_format: zodResponseFormat(person, "person") });
  const response = await openai.responses.stream({ model: "fast", input: "Hello", max_output_tokens: 100, text }).finalResponse();
  const tools = [{ type: "function", function: weather }];
  const called = await openai.chat.completions.stream({ ...chat, tools, tool_choice: "required" }).finalChatCompletion();
  const { parameters: input_schema, ...described } = weather;
  const used = await anthropic.messages.create({ ...call, tools: [{ ...described, input_schema }], tool_choice: { type: "any" } });
  const cities = [JSON.parse(called.choices[0].message.tool_calls[0].function.arguments).city, used.content[0].input.city];
  return { people: [parsed.choices[0].message.parsed.name, response.output_parsed.name], cities, receipts };
}

/** Leave a stream of each package after its first words. */
async function left() {
  const { receipts, anthropic, openai } = sdks();
  const stream = anthropic.messages.stream(call);
  stream.once("text", () => stream.abort());
  await stream.done().catch(() => undefined);
  for await (const _ of await openai.chat.completions.create({ ...chat, stream: true })) break;
  return receipts;
}

const { spent, ...answers } = await spentBy(paid);
done({
  ...answers,
  spent,
  lost: await spentBy(lost),
  refusals: await refusals(),
  repeating: await spentBy(repeating),
  shaped: await shaped(),
  left: await left(),
});
