import assert from "node:assert/strict";
import { test } from "node:test";
import { accountOver, json, refusal } from "./fakes.js";
const BODY = { state: "It opens at nine.", questions: { clear: { type: "noul", instructions: "Is it clear?" } } };
const JUDGEMENT = {
  id: "jdg_1",
  model: "judgement-backend-a/2026-08-01",
  answers: { clear: { type: "noul", answer: true, probabilities: { true: 0.9, false: 0.1 } } },
};

test("a judgement is one metered call with its receipt", async () => {
  const receipt = { "x-service-usage-id": "use_1", "x-service-hold-microusd": "50", "x-service-charge-microusd": "3" };
  const { account, gateway } = accountOver(json(JUDGEMENT, 200, receipt));
  const answer = await account.judge(BODY, { maxCostMicrousd: 1000, idempotencyKey: "mine" });
  assert.deepEqual(answer.data, JUDGEMENT);
  assert.deepEqual(answer.receipt, { usageId: "use_1", holdMicrousd: 50, chargeMicrousd: 3, replayed: false });
  const [request] = gateway.requests;
  assert.equal(`${request.method} ${request.url}`, "POST https://g.example/v1/judgement");
  assert.deepEqual(JSON.parse(request.body), BODY);
  assert.equal(request.headers.get("Idempotency-Key"), "mine");
  assert.equal(request.headers.get("x-service-max-cost-microusd"), "1000");
});

test("an overload is tried again with the same key", async () => {
  const busy = refusal(503, "upstream_overloaded", { "Retry-After": "0.1" });
  const { account, gateway } = accountOver(busy, json(JUDGEMENT));
  await account.judge(BODY, { maxCostMicrousd: 1000 });
  const keys = gateway.requests.map((request) => request.headers.get("Idempotency-Key"));
  assert.equal(keys.length, 2);
  assert.equal(keys[0], keys[1]);
});

test("a refusal is an error with the member at fault", async () => {
  const { account } = accountOver(refusal(400, "images_unsupported"));
  await assert.rejects(account.judge(BODY, { maxCostMicrousd: 1000 }), { name: "GatewayError", code: "images_unsupported" });
});
