import OpenAI from "openai";
import { done } from "./say.js";

const [baseURL, requests] = process.argv.slice(2);
const client = new OpenAI({ baseURL, apiKey: "unused", maxRetries: 0 });

/** Embed, and tell what came. */
async function embed({ body, headers }) {
  try {
    return { made: await client.embeddings.create(body, { headers }) };
  } catch (error) {
    const { code, param, status = null } = error;
    return { error: { kind: error.constructor.name, code, param, status } };
  }
}

const found = {};
for (const [name, request] of Object.entries(JSON.parse(requests))) found[name] = await embed(request);
done(found);
