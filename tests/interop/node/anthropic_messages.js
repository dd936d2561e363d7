import Anthropic from "@anthropic-ai/sdk";
import { proved, provingFetch } from "./proving.js";
import { ask, done } from "./say.js";

const [baseURL, scenarios] = process.argv.slice(2);
const { messages } = new Anthropic({ baseURL, apiKey: "unused", maxRetries: 0, fetch: provingFetch });

/** Tell what an error is, as far as a program may act on it. */
function told(error) {
  const { status = null, type = null, requestID = null, error: body } = error;
  const isTheirs = error instanceof Anthropic.AnthropicError;
  return { kind: error.constructor.name, status, type, requestID, code: body?.error?.code ?? null, isTheirs };
}

const scenario = {
  /** Create a message, and read the response that it came in. */
  async created({ body }) {
    const { data, response, request_id } = await messages.create(body).withResponse();
    return { message: data, id: data._request_id, request_id, charge: response.headers.get("x-service-charge-microusd") };
  },

  /** Read a stream event by event. */
  async events({ body }) {
    const events = [];
    try {
      for await (const event of await messages.create({ ...body, stream: true })) events.push(event);
    } catch (error) {
      return { events, error: told(error) };
    }
    return { events };
  },

  /** Read a stream with the package's own helper. */
  async helper({ body }) {
    const heard = { texts: [], snapshots: [], thoughts: [], json: [], blocks: [] };
    const stream = messages.stream(body);
    stream.on("text", (text, snapshot) => (heard.texts.push(text), heard.snapshots.push(snapshot)));
    stream.on("thinking", (text) => heard.thoughts.push(text));
    stream.on("inputJson", (piece) => heard.json.push(piece));
    stream.on("contentBlock", (block) => heard.blocks.push(block.type));
    try {
      const final = await stream.finalMessage();
      return { ...heard, final, id: stream.request_id };
    } catch (error) {
      return { ...heard, error: told(error) };
    }
  },

  /** Call tools and answer them, round after round, as JSON or as streams. */
  async tools({ body, streams, rounds }) {
    const run = (asked) => (streams ? messages.stream(asked).finalMessage() : messages.create(asked));
    const turns = [...body.messages];
    const used = [];
    for (let round = 0; round < rounds; round += 1) {
      const { content } = await run({ ...body, messages: turns });
      used.push(content);
      const results = content.map(({ id }, at) => ({ type: "tool_result", tool_use_id: id, content: "rain", is_error: at > 0 }));
      turns.push({ role: "assistant", content }, { role: "user", content: results });
      const answered = await run({ ...body, messages: turns });
      turns.push({ role: "assistant", content: answered.content }, body.messages[0]);
    }
    return { used, text: turns.at(-2).content[0].text };
  },

  /** Leave a stream after its first words. */
  async left({ body }) {
    const stream = messages.stream(body);
    stream.once("text", () => stream.abort());
    return stream.finalMessage().then(() => null, told);
  },

  /** Abort a request by a signal, once the test says that it is under way. */
  async aborted({ body }) {
    const controller = new AbortController();
    const abortingFetch = async (url, init) => {
      const response = fetch(url, await proved(url, init));
      response.catch(() => undefined); // it is awaited later
      await ask({ approve: "abort" });
      controller.abort();
      return response;
    };
    const client = new Anthropic({ baseURL, apiKey: "unused", maxRetries: 0, fetch: abortingFetch });
    return client.messages.create(body, { signal: controller.signal }).then(() => null, told);
  },

  /** Count tokens. */
  async counted({ body: { max_tokens, ...body } }) {
    return messages.countTokens(body);
  },

  /** Tell the error of a request. */
  async refused({ body }) {
    return messages.create(body).then(() => null, told);
  },
};

const found = {};
for (const [name, { does, ...asked }] of Object.entries(JSON.parse(scenarios))) found[name] = await scenario[does](asked);
done(found);
