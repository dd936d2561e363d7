/** What a browser and a gateway give, small enough to look through. */

import { Account } from "../src/account.js";
import { Caller } from "../src/caller.js";
import { ProofKey } from "../src/keys.js";
import { Transport } from "../src/transport.js";

const key = await ProofKey.generate();
const tokens = { token: async () => "personal", renew: async () => "renewed" };

/** An account over a gateway that answers from a list. */
export function accountOver(...answers) {
  const gateway = answering(...answers);
  const transport = new Transport({ baseUrl: "https://g.example", key: async () => key, fetch: gateway.fetch });
  return { account: new Account(new Caller(transport, tokens)), gateway };
}

/** A store in memory. */
export class MemoryStore {
  scope = "test";
  records = new Map();

  async read(name) {
    return structuredClone(this.records.get(name));
  }

  async write(name, value) {
    this.records.set(name, structuredClone(value));
  }

  async settle(name, value) {
    if (!this.records.has(name)) await this.write(name, value);
    return this.read(name);
  }

  async remove(...names) {
    for (const name of names) this.records.delete(name);
  }
}

/** A gateway that answers from a list: a value is a body, an Error is no answer, a Response is itself. */
export function answering(...answers) {
  const requests = [];
  const fetch = async (url, init) => {
    requests.push({ url, ...init, body: init.body, headers: new Headers(init.headers) });
    const answer = answers.shift();
    if (answer instanceof Error) throw answer;
    return answer instanceof Response ? answer : json(answer);
  };
  return { fetch, requests };
}

export function json(body, status = 200, headers = {}) {
  return new Response(JSON.stringify(body), { status, headers: { "Content-Type": "application/json", ...headers } });
}

export function refusal(status, code, headers = {}) {
  return json({ error: { code, message: code, param: null, details: {}, request_id: "req_1" } }, status, headers);
}

export function oauthRefusal(code, headers = {}) {
  return json({ error: code, error_description: code, request_id: "req_1" }, 400, headers);
}

/** Read a JWT's parts without checking them. */
export function read(token) {
  const [header, claims] = token.split(".").map((part) => Buffer.from(part, "base64url").toString());
  return { header: JSON.parse(header), claims: JSON.parse(claims) };
}
