import assert from "node:assert/strict";
import { createHmac, randomBytes } from "node:crypto";
import { test } from "node:test";
import { ClientError, InvalidEvent } from "../src/errors.js";
import { verifyEvent } from "../src/webhook_events.js";

const at = 1_790_000_000;
const now = new Date(at * 1000);
const [secret, other] = [1, 2].map((number) => `whsec_${Buffer.alloc(32, number).toString("base64")}`);
const event = {
  id: "evt_01m8e0krrrx0jkfm39x49mab0t",
  type: "wallet.low",
  createdAt: "2026-09-21T14:13:20Z",
  sequence: 7,
  data: { did: "did:web:studio.example:älice", availableMicrousd: 900_000, thresholdMicrousd: 1_000_000 },
};
const body = JSON.stringify(event);

function signature(of = body, by = secret) {
  const hmac = createHmac("sha256", Buffer.from(by.slice("whsec_".length), "base64"));
  return `v1,${hmac.update(`evt_1.${at}.`).update(of).digest("base64")}`;
}

function headers(change = {}, of = body) {
  return { "webhook-id": "evt_1", "webhook-timestamp": String(at), "webhook-signature": signature(of), ...change };
}

async function refused(reason, { of = body, sent = headers(), secrets = secret, when = now } = {}) {
  await assert.rejects(verifyEvent(of, sent, secrets, { now: when }), (error) => {
    assert.ok(error instanceof InvalidEvent && error instanceof ClientError, String(error));
    assert.match(error.message, reason);
    return true;
  });
}

test("a signed event is given, from bytes and from text", async () => {
  const bytes = Buffer.from(body);
  const within = Buffer.concat([Buffer.from("before"), bytes, Buffer.from("after")]).subarray(6, 6 + bytes.length);
  for (const each of [body, bytes, within, new Uint8Array(bytes), new Uint8Array(bytes).buffer]) {
    assert.deepEqual(await verifyEvent(each, headers(), secret, { now }), event);
  }
});

test("headers are Node's, those of a Request, or in any case", async () => {
  const upper = Object.fromEntries(Object.entries(headers()).map(([name, value]) => [name.toUpperCase(), value]));
  const many = headers({ "webhook-signature": [signature(body, other), signature()] });
  for (const sent of [headers(), new Headers(headers()), upper, many]) {
    assert.deepEqual(await verifyEvent(body, sent, secret, { now }), event);
  }
});

test("one of several signatures must match", async () => {
  const several = [
    `${signature(body, other)} ${signature()}`,
    `${signature()} ${signature(body, other)}`,
    `v1a,AAAA v2,xyz ${signature()}`,
    `v1,AAAA v1, v1,%%% , ${signature()}`,
  ];
  for (const text of several) {
    assert.deepEqual(await verifyEvent(body, headers({ "webhook-signature": text }), secret, { now }), event);
  }
});

test("the receiver may know the old and the new secret", async () => {
  assert.deepEqual(await verifyEvent(body, headers(), [other, secret], { now }), event);
});

test("a secret of each length that the gateway allows works", async () => {
  for (const size of [24, 31, 64]) {
    const made = `whsec_${randomBytes(size).toString("base64")}`;
    const sent = headers({ "webhook-signature": signature(body, made) });
    assert.deepEqual(await verifyEvent(body, sent, made, { now }), event);
  }
});

test("five minutes are tolerated, and no more", async () => {
  for (const seconds of [-300, 300]) {
    assert.deepEqual(await verifyEvent(body, headers(), secret, { now: new Date((at + seconds) * 1000) }), event);
  }
  await refused(/signed 301 seconds ago, and 300 are allowed/, { when: new Date((at + 301) * 1000) });
  await refused(/signed 301 seconds ahead/, { when: new Date((at - 301) * 1000) });
  await assert.rejects(
    verifyEvent(body, headers(), secret, { now: new Date((at + 11) * 1000), toleranceSeconds: 10 }),
    /signed 11 seconds ago, and 10 are allowed/,
  );
  await assert.rejects(verifyEvent(body, headers(), secret, { now: new Date(0) }), InvalidEvent);
});

test("the clock is this machine's", async () => {
  await assert.rejects(verifyEvent(body, headers({ "webhook-timestamp": "1000" }), secret), /seconds ago/);
});

test("a header that is missing is named", async () => {
  for (const name of Object.keys(headers())) {
    await refused(new RegExp(`the header ${name} is missing`), { sent: headers({ [name]: undefined }) });
    await refused(new RegExp(`the header ${name} is missing`), { sent: headers({ [name]: "" }) });
  }
});

test("a time that is none is refused", async () => {
  for (const text of ["soon", "-5", "1e9", "1790000000.5", "१७९०००००००", "9".repeat(13), " 1790000000"]) {
    await refused(/webhook-timestamp is not a number of seconds/, { sent: headers({ "webhook-timestamp": text }) });
  }
});

test("whatever else was signed is refused", async () => {
  await refused(/no signature matches/, { sent: headers({ "webhook-id": "evt_2" }) });
  await refused(/no signature matches/, { sent: headers({ "webhook-timestamp": String(at + 1) }) });
  await refused(/no signature matches/, { sent: headers({ "webhook-signature": "v1,AAAA" }) });
  await refused(/no signature matches/, { sent: headers({ "webhook-signature": "v1,é\ud800" }) });
  await refused(/no signature of version v1/, { sent: headers({ "webhook-signature": signature().slice(3) }) });
  await refused(/no signature of version v1/, { sent: headers({ "webhook-signature": `v1a,${signature().slice(3)}` }) });
  await refused(/the secret is another endpoint's/, { secrets: other });
  await refused(/not the bytes that were sent/, { of: `${body}\n` });
  await refused(/not the bytes that were sent/, { of: JSON.stringify(event, null, 2) });
});

test("a body that is not raw, and a secret that is none, are the program's error", async () => {
  for (const parsed of [event, null, undefined, 5]) {
    await assert.rejects(verifyEvent(parsed, headers(), secret, { now }), { name: "TypeError", message: /as they were received/ });
  }
  for (const text of ["", "whsec_", "whsec_%%%", secret.slice("whsec_".length), undefined, []]) {
    await assert.rejects(verifyEvent(body, headers(), text, { now }), { name: "TypeError", message: /secret/ });
  }
});

test("a signed body that is no event is refused", async () => {
  for (const of of ["", "[]", "null", "{", Buffer.from([0xff]), "[".repeat(100_000)]) {
    await refused(/no JSON object/, { of, sent: headers({}, of) });
  }
  for (const [name, value] of [["id", 1], ["type", null], ["createdAt", 5], ["sequence", "7"], ["data", []], ["data", null]]) {
    const of = JSON.stringify({ ...event, [name]: value });
    await refused(new RegExp(`its member ${name} is missing or of another type`), { of, sent: headers({}, of) });
  }
});

test("a type that is not known yet is an event too", async () => {
  const newer = JSON.stringify({ ...event, type: "wallet.renamed", more: 1 });
  assert.equal((await verifyEvent(newer, headers({}, newer), secret, { now })).type, "wallet.renamed");
});
