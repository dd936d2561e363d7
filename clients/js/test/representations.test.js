import assert from "node:assert/strict";
import { test } from "node:test";
import { accountOver, json, refusal } from "./fakes.js";

const MANIFEST = { manifest: { revision: "r1" }, manifest_id: "0a1b" };
const RECEIPT = { "x-service-usage-id": "use_1", "x-service-hold-microusd": "50", "x-service-charge-microusd": "3" };
const CALLS = {
  contextualEmbeddings: {
    path: "/v1/embeddings/contextual",
    body: { model: "embedding-contextual", input_type: "document", documents: [["a", "b"], ["c"]] },
    answer: { object: "list", data: [], ...MANIFEST },
  },
  lateInteraction: {
    path: "/v1/late-interaction/score",
    body: { model: "late-interaction", query: "Who digs?", documents: [{ id: "a", text: "Badgers dig." }] },
    answer: { object: "list", data: [{ id: "a", score: 1.5, spans: [] }], ...MANIFEST },
  },
};

for (const [method, { path, body, answer }] of Object.entries(CALLS)) {
  test(`${method} is one metered call with its receipt`, async () => {
    const { account, gateway } = accountOver(json(answer, 200, RECEIPT));
    const found = await account[method](body, { maxCostMicrousd: 1000, idempotencyKey: "mine" });
    assert.deepEqual(found.data, answer);
    assert.deepEqual(found.receipt, { usageId: "use_1", holdMicrousd: 50, chargeMicrousd: 3, replayed: false });
    const [request] = gateway.requests;
    assert.equal(`${request.method} ${request.url}`, `POST https://g.example${path}`);
    assert.deepEqual(JSON.parse(request.body), body);
    assert.equal(request.headers.get("Idempotency-Key"), "mine");
    assert.equal(request.headers.get("x-service-max-cost-microusd"), "1000");
  });

  test(`${method} is tried again with the same key, and a refusal is an error`, async () => {
    const { account, gateway } = accountOver(new TypeError("no network"), refusal(400, "invalid_request"));
    const refused = { name: "GatewayError", code: "invalid_request" };
    await assert.rejects(account[method](body, { maxCostMicrousd: 1000 }), refused);
    const keys = gateway.requests.map((request) => request.headers.get("Idempotency-Key"));
    assert.equal(keys.length, 2);
    assert.equal(keys[0], keys[1]);
  });
}
