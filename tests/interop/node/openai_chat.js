import OpenAI from "openai";
import { told } from "./proving.js";
import { ask, done } from "./say.js";

const [baseURL, requests] = process.argv.slice(2);
const client = new OpenAI({ baseURL, apiKey: "unused", maxRetries: 0 });

/** Read a stream chunk by chunk; after the first one the test may do something. */
async function iterate({ body, headers, pause }) {
  const chunks = [];
  try {
    for await (const chunk of await client.chat.completions.create({ ...body, stream: true }, { headers })) {
      if (pause && !chunks.length) await ask({ approve: pause });
      chunks.push(chunk);
    }
  } catch (error) {
    return { chunks, error: told(error) };
  }
  return { chunks };
}

/** Read a stream with the package's own helper, which assembles the whole answer. */
async function assemble({ body, headers }) {
  try {
    return { completion: await client.chat.completions.stream(body, { headers }).finalChatCompletion() };
  } catch (error) {
    return { error: told(error) };
  }
}

const found = {};
for (const [name, request] of Object.entries(JSON.parse(requests))) {
  found[name] = await (request.helper ? assemble : iterate)(request);
}
done(found);
