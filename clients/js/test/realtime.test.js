import assert from "node:assert/strict";
import { test } from "node:test";

import { Account, GatewayUnreachable, ProofKey } from "../src/index.js";
import { Freshness } from "../src/freshness.js";
import { read } from "./fakes.js";

const b64 = (value) => Buffer.from(JSON.stringify(value)).toString("base64url");
const tokenUntil = (exp) => `${b64({})}.${b64({ exp })}.sig`;

/** A WebSocket whose other side is the test. */
class FakeSocket {
  static last;
  sent = [];

  constructor(url, offers) {
    Object.assign(this, { url, offers });
    FakeSocket.last = this;
    queueMicrotask(() => (FakeSocket.refuses ? this.onerror() : this.onopen()));
  }

  send(text) {
    this.sent.push(JSON.parse(text));
    this.onsent?.();
  }

  say(event) {
    this.onmessage({ data: JSON.stringify(event) });
  }

  close(code = 1000, reason = "") {
    this.onclose({ code, reason });
  }
}

async function account(tokens) {
  const key = await ProofKey.generate();
  const transport = { baseUrl: "https://gateway.example", freshness: Object.assign(new Freshness(), { nonce: "n-1" }), key: async () => key };
  return new Account({ transport, tokens: { token: async () => tokens[0], renew: async () => tokens[1] } });
}

const now = () => Math.floor(Date.now() / 1000);
const options = { model: "live", maxCostMicrousd: 5000, idempotencyKey: "one", WebSocket: FakeSocket };

test("a session authenticates by subprotocols", async () => {
  const token = tokenUntil(now() + 300);
  const session = await (await account([token])).connectRealtime(options);
  const [protocol, sentToken, proof, key, max] = FakeSocket.last.offers;
  assert.equal(FakeSocket.last.url, "wss://gateway.example/v1/realtime?model=live");
  assert.deepEqual([protocol, sentToken, key, max], ["service.realtime.v1", `service.token.${token}`, "service.key.one", "service.max.5000"]);
  const { claims } = read(proof.replace("service.proof.", ""));
  assert.deepEqual([claims.htm, claims.htu, claims.nonce], ["GET", "https://gateway.example/v1/realtime", "n-1"]);
  session.close();
});

test("events come in order, with what they cost, until the session is over", async () => {
  const session = await (await account([tokenUntil(now() + 300)])).connectRealtime(options);
  FakeSocket.last.say({ type: "session.created" });
  FakeSocket.last.say({ type: "service.usage", usage_id: "use_1", charge_microusd: 7, hold_microusd: 5000 });
  session.send({ type: "response.create" });
  FakeSocket.last.close(4402, "ceiling reached");
  const events = [];
  for await (const event of session) events.push(event.type);
  assert.deepEqual(events, ["session.created", "service.usage"]);
  assert.deepEqual(session.usage, { usageId: "use_1", chargeMicrousd: 7, holdMicrousd: 5000 });
  assert.deepEqual(session.closed, { code: 4402, reason: "ceiling reached" });
  assert.deepEqual(FakeSocket.last.sent, [{ type: "response.create" }]);
});

test("a token that ends soon is renewed within the session", async () => {
  const newer = tokenUntil(now() + 300);
  const session = await (await account([tokenUntil(now() + 1), newer])).connectRealtime(options);
  await new Promise((resolve) => (FakeSocket.last.onsent = resolve));
  const [renewal] = FakeSocket.last.sent;
  assert.deepEqual([renewal.type, renewal.access_token], ["service.reauthorize", newer]);
  assert.equal(read(renewal.proof).claims.htm, "GET");
  session.close();
});

test("a handshake that was refused is an error", async () => {
  FakeSocket.refuses = true;
  await assert.rejects((await account([tokenUntil(now() + 300)])).connectRealtime(options), GatewayUnreachable);
  FakeSocket.refuses = false;
});
