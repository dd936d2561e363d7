import assert from "node:assert/strict";
import { test } from "node:test";
import { ProofKey } from "../src/keys.js";
import { Session } from "../src/session.js";
import { Transport } from "../src/transport.js";
import { answering, oauthRefusal } from "./fakes.js";
import { MemoryStore } from "./fakes.js";

const GRANT = {
  access_token: "a1",
  expires_in: 300,
  scope: "wallet:read",
  refresh_token: "r1",
  device_session: { id: "dev_1", name: "Laptop", expires_at: 1790000000 },
};

function sessionOver(...answers) {
  const gateway = answering(...answers);
  const store = new MemoryStore();
  const told = [];
  const transport = new Transport({ baseUrl: "https://g.example", key: () => ProofKey.kept(store), fetch: gateway.fetch });
  const session = new Session({ store, transport, notices: { tell: (kind) => told.push(kind) } });
  return { session, store, gateway, told };
}

async function expire(store) {
  await store.write("session", { ...(await store.read("session")), expiresAt: 0 });
}

test("a live token is given without asking anybody", async () => {
  const { session, gateway, told } = sessionOver();
  await session.open(GRANT);
  assert.equal(await session.token(), "a1");
  assert.deepEqual([gateway.requests.length, told], [0, ["signedin"]]);
});

test("however many ask, one renews and the successor is kept first", async () => {
  const { session, store, gateway } = sessionOver({ ...GRANT, access_token: "a2", refresh_token: "r2" });
  await session.open(GRANT);
  await expire(store);
  assert.deepEqual(await Promise.all([1, 2, 3, 4].map(() => session.token())), ["a2", "a2", "a2", "a2"]);
  assert.equal(gateway.requests.length, 1);
  assert.deepEqual(JSON.parse(gateway.requests[0].body), { grant_type: "refresh_token", refresh_token: "r1" });
  assert.equal(gateway.requests[0].headers.get("Authorization"), null);
  assert.equal((await store.read("session")).refreshToken, "r2");
});

test("a refused token that was replaced meanwhile costs no renewal", async () => {
  const { session, gateway } = sessionOver();
  await session.open(GRANT);
  assert.equal(await session.renew("a0"), "a1");
  assert.equal(gateway.requests.length, 0);
});

test("a lost answer is asked for again with the same credential and another proof", async () => {
  const { session, gateway } = sessionOver(new TypeError("network"), { ...GRANT, access_token: "a2" });
  await session.open(GRANT);
  assert.equal(await session.renew("a1"), "a2");
  const [first, second] = gateway.requests;
  assert.equal(first.body, second.body);
  assert.notEqual(first.headers.get("DPoP"), second.headers.get("DPoP"));
});

test("a session that has ended is forgotten, key and all, and everybody is told", async () => {
  const { session, store, told } = sessionOver(oauthRefusal("invalid_grant"));
  await session.open(GRANT);
  await ProofKey.kept(store);
  await assert.rejects(session.renew("a1"), { name: "SignedOut" });
  assert.deepEqual([store.records.size, told], [0, ["signedin", "signedout"]]);
});

test("another refusal ends nothing", async () => {
  const { session, store } = sessionOver(oauthRefusal("invalid_request"));
  await session.open(GRANT);
  await assert.rejects(session.renew("a1"), { name: "GatewayError", code: "invalid_request" });
  assert.equal((await store.read("session")).refreshToken, "r1");
});

test("without a device session a token's end is the session's", async () => {
  const { session, store, gateway } = sessionOver();
  await session.open({ access_token: "a1", expires_in: 300, scope: "wallet:read" });
  assert.equal(await session.token(), "a1");
  await expire(store);
  await assert.rejects(session.token(), { name: "SignedOut" });
  assert.equal(gateway.requests.length, 0);
});

test("nobody signed in is told so, and nobody is told that it ended", async () => {
  const { session, told } = sessionOver();
  await assert.rejects(session.token(), { name: "SignedOut" });
  assert.deepEqual(told, []);
});

test("a new session ends the one that it replaces", async () => {
  const { session, gateway } = sessionOver(new Response(null, { status: 204 }));
  await session.open(GRANT);
  await session.open({ ...GRANT, refresh_token: "r9" });
  assert.equal(new URL(gateway.requests[0].url).pathname, "/v1/public/device/revoke");
  assert.deepEqual(JSON.parse(gateway.requests[0].body), { refresh_token: "r1" });
  assert.equal((await session.kept()).refreshToken, "r9");
});

test("signing out tells the gateway, and forgets even where it does not answer", async () => {
  const { session, store, gateway, told } = sessionOver(new TypeError("network"));
  await session.open(GRANT);
  await assert.rejects(session.close(), { name: "GatewayUnreachable" });
  assert.equal(gateway.requests.length, 1);
  assert.deepEqual([store.records.size, told.at(-1)], [0, "signedout"]);
});
