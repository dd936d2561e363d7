import OpenAI from "openai";
import { done } from "./say.js";

const [baseURL, requests] = process.argv.slice(2);
const client = new OpenAI({ baseURL, apiKey: "unused", maxRetries: 0 });

/** Make images, whole or as a stream, and tell what came. */
async function generate({ body, headers }) {
  const events = [];
  try {
    const made = await client.images.generate(body, { headers });
    if (!body.stream) return { made };
    for await (const event of made) events.push(event);
  } catch (error) {
    const { code, param, status = null } = error;
    return { events, error: { kind: error.constructor.name, code, param, status } };
  }
  return { events };
}

const found = {};
for (const [name, request] of Object.entries(JSON.parse(requests))) found[name] = await generate(request);
done(found);
