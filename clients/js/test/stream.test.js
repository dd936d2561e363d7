import assert from "node:assert/strict";
import { test } from "node:test";
import { readEvents } from "../src/events.js";
import { Stream } from "../src/stream.js";

async function* each(chunks) {
  yield* chunks;
}

async function collect(iterable) {
  const all = [];
  for await (const one of iterable) all.push(one);
  return all;
}

function streamOf(text, headers = {}) {
  const usage = { "x-service-usage-id": "use_1", "x-service-hold-microusd": "612", ...headers };
  return new Stream(new Response(text, { headers: usage }), "key-1");
}

function chunk(content) {
  return `data: ${JSON.stringify({ choices: [{ delta: { content } }] })}\n\n`;
}

const EVENTS = [{ data: "one" }, { comment: " service {}" }, { data: "two\nlines" }, { data: "last" }];

for (const [name, end] of [["line feeds", "\n"], ["carriage returns", "\r"], ["both", "\r\n"]]) {
  test(`events are read with ${name}, however they are cut`, async () => {
    const lines = ["data: one", "", ": service {}", "event: x", "data: two", "data:lines", "", "data: last", "", "data: cut"];
    const text = lines.join(end);
    for (let size = 1; size <= text.length; size += 1) {
      const chunks = text.match(new RegExp(`[^]{1,${size}}`, "g"));
      assert.deepEqual(await collect(readEvents(each(chunks))), EVENTS, `cut by ${size}`);
    }
  });
}

test("a stream gives its text, then its receipt", async () => {
  const closing = ': service {"usage_id":"use_1","charge_microusd":9}\n';
  const stream = streamOf(`${chunk("Hel")}${chunk("lo ✨")}${chunk("")}data: [DONE]\n\n${closing}`);
  assert.equal(stream.receipt.chargeMicrousd, null);
  assert.deepEqual(await collect(stream.text()), ["Hel", "lo ✨"]);
  assert.deepEqual(stream.receipt, { usageId: "use_1", holdMicrousd: 612, chargeMicrousd: 9, replayed: false });
  assert.equal(stream.idempotencyKey, "key-1");
});

for (const data of ["{oops", "null", "<html>"]) {
  test(`an event of ${data} is unreadable, not a crash`, async () => {
    await assert.rejects(collect(streamOf(`data: ${data}\n\n`)), { name: "GatewayError", code: "unreadable" });
  });
}

test("text of responses is read too", async () => {
  const events = [
    { type: "response.created" },
    { type: "response.output_text.delta", delta: "Hi" },
    { type: "response.completed" },
  ];
  const text = events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join("");
  const stream = streamOf(`${text}: service {"usage_id":"use_1","charge_microusd":1}\n`);
  assert.deepEqual(await collect(stream.text()), ["Hi"]);
});

test("text of messages is read too", async () => {
  const events = [
    { type: "message_start", message: { id: "msg_1" } },
    { type: "content_block_delta", index: 0, delta: { type: "thinking_delta", thinking: "Hm." } },
    { type: "content_block_delta", index: 1, delta: { type: "text_delta", text: "Hi" } },
    { type: "message_stop" },
  ];
  const text = events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join("");
  const stream = streamOf(`${text}: service {"usage_id":"use_1","charge_microusd":1}\n`);
  assert.deepEqual(await collect(stream.text()), ["Hi"]);
});

test("an error event of messages is an error", async () => {
  const error = { type: "api_error", code: "upstream_error", message: "It failed.", param: null, details: {} };
  const event = { type: "error", error, request_id: "req_1" };
  const stream = streamOf(`event: error\ndata: ${JSON.stringify(event)}\n\n`);
  await assert.rejects(collect(stream.text()), { name: "GatewayError", code: "upstream_error", requestId: "req_1" });
});

test("a stream that breaks off says so, and gives what came", async () => {
  const came = [];
  const reading = (async () => {
    for await (const text of streamOf(chunk("Hel")).text()) came.push(text);
  })();
  await assert.rejects(reading, { name: "GatewayUnreachable" });
  assert.deepEqual(came, ["Hel"]);
});

test("an error event is an error", async () => {
  const event = { error: { code: "upstream_error", message: "It failed.", request_id: "req_1" } };
  const stream = streamOf(`${chunk("Hel")}data: ${JSON.stringify(event)}\n\n`);
  await assert.rejects(collect(stream.text()), { name: "GatewayError", code: "upstream_error", requestId: "req_1" });
});

test("whoever leaves the loop cancels the call", async () => {
  let cancelled = false;
  const body = new ReadableStream({
    pull: (controller) => controller.enqueue(new TextEncoder().encode(chunk("again"))),
    cancel: () => (cancelled = true),
  });
  for await (const text of streamOf(body).text()) {
    assert.equal(text, "again");
    break;
  }
  assert.equal(cancelled, true);
});
