import { makeParseableTextFormat } from "openai/lib/parser";
import { proving, told } from "./proving.js";
import { ask, done } from "./say.js";

const [baseURL, scenarios] = process.argv.slice(2);
const { responses } = proving(baseURL);

/** Read every page of what a list gives. */
async function everything(list) {
  const items = [];
  for await (const item of list) items.push(item);
  return items;
}

const scenario = {
  /** Make a response, read it and its input again, continue from it, and delete it. */
  async stored({ body }) {
    const made = await responses.create(body);
    const continued = await responses.create({ model: body.model, input: "And?", previous_response_id: made.id });
    const items = await everything(responses.inputItems.list(continued.id, { limit: 2, order: "asc" }));
    const read = await responses.retrieve(made.id);
    await responses.delete(made.id);
    const gone = await responses.retrieve(made.id).catch(told);
    return { made, read, continued, items, gone };
  },

  /** Read a stream event by event; after the first one the test may do something. */
  async events({ body, pause }) {
    const events = [];
    try {
      for await (const event of await responses.create({ ...body, stream: true })) {
        if (pause && !events.length) await ask({ approve: pause });
        events.push(event);
      }
    } catch (error) {
      return { events, error: told(error) };
    }
    return { events };
  },

  /** Read a stream with the package's own helper, which assembles the response, and read the stored one. */
  async helper({ body }) {
    try {
      const final = await responses.stream(body).finalResponse();
      return { final, read: await responses.retrieve(final.id) };
    } catch (error) {
      return { error: told(error) };
    }
  },

  /** Have a structured answer parsed, as JSON and as a stream. */
  async parsed({ body, schema }) {
    const format = { type: "json_schema", name: "place", strict: true, schema };
    const asked = { ...body, text: { format: makeParseableTextFormat(format, JSON.parse) } };
    const whole = await responses.parse(asked);
    const streamed = await responses.stream(asked).finalResponse();
    return { whole: whole.output_parsed, streamed: streamed.output_parsed };
  },

  /** Call tools until the model has words, as JSON or as streams. */
  async tools({ body, streams }) {
    const run = (asked) => (streams ? responses.stream(asked).finalResponse() : responses.parse(asked));
    const called = await run(body);
    const calls = called.output.filter((item) => item.type === "function_call");
    const results = calls.map(({ call_id }) => ({ type: "function_call_output", call_id, output: "sunny" }));
    const answered = await run({ ...body, input: results, previous_response_id: called.id });
    return { calls, text: answered.output_text };
  },

  /** Tell the error of a request. */
  async refused({ body }) {
    return responses.create(body).then(() => null, told);
  },
};

const found = {};
for (const [name, { does, ...asked }] of Object.entries(JSON.parse(scenarios))) found[name] = await scenario[does](asked);
done(found);
