import { connect } from "node:net";
import OpenAI from "openai";
import { OpenAIRealtimeWS } from "openai/realtime/ws";
import { done } from "./say.js";

const [baseURL, sessions] = process.argv.slice(2);
const { hostname, port } = new URL(baseURL);
const client = new OpenAI({ baseURL, apiKey: "unused" });

/** Open a session. The package always sends a bearer key, and always wants TLS, which the gateway under test has not. */
function open({ model, headers }) {
  const options = {
    createConnection: () => connect(port, hostname),
    finishRequest(request) {
      for (const [name, value] of Object.entries(headers)) request.setHeader(name, value);
      request.end();
    },
  };
  return new OpenAIRealtimeWS({ model, options }, client);
}

/** Say what there is to say, and tell every event, error and the close code until the session ends. */
function talk({ said, ends, ...session }) {
  const events = [];
  const errors = [];
  const live = open(session);
  live.on("session.created", () => said.forEach((event) => live.send(event)));
  live.on("event", (event) => {
    events.push(event);
    if (event.type === ends) live.close();
  });
  live.on("error", (error) => errors.push(told(error)));
  return new Promise((end) => live.socket.on("close", (code) => end({ events, errors, code })));
}

/** Tell what an error is, as far as a program may act on it. */
function told(error) {
  return {
    kind: error.constructor.name,
    isOpenAI: error instanceof OpenAI.OpenAIError,
    code: error.error?.code ?? null,
    cause: error.cause?.message ?? null,
  };
}

const found = {};
for (const [name, session] of Object.entries(JSON.parse(sessions))) found[name] = await talk(session);
done(found);
