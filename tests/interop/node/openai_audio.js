import { createHash } from "node:crypto";
import OpenAI, { toFile } from "openai";
import { done } from "./say.js";

const [baseURL, requests] = process.argv.slice(2);
const client = new OpenAI({ baseURL, apiKey: "unused", maxRetries: 0 });
const { audio } = client;

function told(error) {
  return { kind: error.constructor.name, param: error.param ?? null, isOpenAI: error instanceof OpenAI.OpenAIError };
}

const sha256 = (bytes) => createHash("sha256").update(bytes).digest("hex");
const fileOf = (base64) => toFile(Buffer.from(base64, "base64"), "a.wav");

const ways = {
  async speech({ body, headers }) {
    const { data, response } = await audio.speech.create(body, { headers }).withResponse();
    const bytes = Buffer.from(await data.arrayBuffer());
    return { sha256: sha256(bytes), type: response.headers.get("content-type"), hold: response.headers.get("x-service-hold-microusd") };
  },
  async pieces({ body, headers }) {
    const response = await audio.speech.create(body, { headers });
    let size = 0;
    for await (const piece of response.body) size += piece.length;
    return { size };
  },
  async transcription({ body, headers, file }) {
    return { answer: await audio.transcriptions.create({ ...body, file: await fileOf(file) }, { headers }) };
  },
  async translation({ body, headers, file }) {
    return { answer: await audio.translations.create({ ...body, file: await fileOf(file) }, { headers }) };
  },
  async stream({ body, headers, file }) {
    const events = [];
    for await (const event of await audio.transcriptions.create({ ...body, file: await fileOf(file), stream: true }, { headers })) events.push(event);
    return { events };
  },
};

const found = {};
for (const [name, request] of Object.entries(JSON.parse(requests))) {
  found[name] = await ways[request.way](request).catch((error) => ({ error: told(error) }));
}
done(found);
