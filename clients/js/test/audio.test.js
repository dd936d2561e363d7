import assert from "node:assert/strict";
import { test } from "node:test";
import { Account } from "../src/account.js";

const RECEIPT = { "x-service-usage-id": "use_1", "x-service-hold-microusd": "90" };

/** An account whose requests are answered from a list, and what was asked. */
function account(...answers) {
  const requests = [];
  const fetch = async (path, init) => {
    requests.push({ path, ...init, headers: new Headers(init.headers) });
    return answers.shift();
  };
  return { account: new Account({ fetch, transport: {} }), requests };
}

test("speech is a blob of the answer's own type, and its receipt has no charge", async () => {
  const sound = new Response(new Uint8Array([1, 2, 3]), { headers: { "Content-Type": "audio/wav", ...RECEIPT } });
  const { account: alice, requests } = account(sound);
  const { data, receipt } = await alice.speech({ model: "audio", input: "a", voice: "b" }, { maxCostMicrousd: 100 });
  assert.equal(data.type, "audio/wav");
  assert.deepEqual([...new Uint8Array(await data.arrayBuffer())], [1, 2, 3]);
  assert.equal(receipt.holdMicrousd, 90);
  assert.equal(receipt.chargeMicrousd, null);
  assert.equal(requests[0].path, "/v1/audio/speech");
});

test("a file is sent as the form that it is", async () => {
  for (const [method, path] of [["transcribe", "/v1/audio/transcriptions"], ["translate", "/v1/audio/translations"]]) {
    const { account: alice, requests } = account(Response.json({ text: "a" }, { headers: RECEIPT }));
    const form = new FormData();
    form.set("model", "audio");
    form.set("file", new Blob([new Uint8Array(4)]), "a.wav");
    const { data } = await alice[method](form, { maxCostMicrousd: 100 });
    assert.equal(data.text, "a");
    assert.equal(requests[0].path, path);
    assert.equal(requests[0].body, form);
    assert.equal(requests[0].headers.get("Content-Type"), null);
  }
});
