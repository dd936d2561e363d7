import assert from "node:assert/strict";
import { test } from "node:test";
import { accountOver, json } from "./fakes.js";

const CONFIG = { command: ["true"], timeoutSeconds: 5 };
const JOB = { program: "refine", inputs: ["art_1"], evidence: ["evd_1"], idempotencyKey: "k" };
const RUN = { projectId: "prj_1", command: ["true"], idempotencyKey: "k" };
const TEXT = { kind: "prompt", content: "hi", encoding: "utf-8" };

const ROUTES = [
  [(a) => a.responses.get("resp_1"), "GET /v1/responses/resp_1"],
  [(a) => a.responses.delete("resp_1"), "DELETE /v1/responses/resp_1"],
  [(a) => a.responses.inputItems("resp_1"), "GET /v1/responses/resp_1/input_items"],
  [(a) => a.responses.inputItems("resp_1", { limit: 2, after: "msg_1", order: "asc" }), "GET /v1/responses/resp_1/input_items?limit=2&after=msg_1&order=asc"],
  [(a) => a.projects.list(), "GET /v1/projects"],
  [(a) => a.projects.list({ limit: 5, after: "prj_1" }), "GET /v1/projects?limit=5&after=prj_1"],
  [(a) => a.projects.executionConfig("prj_1"), "GET /v1/projects/prj_1/execution-config"],
  [(a) => a.projects.configure("prj_1", CONFIG), "PUT /v1/projects/prj_1/execution-config", CONFIG],
  [(a) => a.sandbox.create(RUN), "POST /v1/sandbox/runs", RUN],
  [(a) => a.sandbox.list(), "GET /v1/sandbox/runs"],
  [(a) => a.sandbox.list({ limit: 5, after: "run_1" }), "GET /v1/sandbox/runs?limit=5&after=run_1"],
  [(a) => a.sandbox.get("run_1"), "GET /v1/sandbox/runs/run_1"],
  [(a) => a.sandbox.cancel("run_1"), "POST /v1/sandbox/runs/run_1/cancel"],
  [(a) => a.ci.list({ limit: 5, after: "ci_1" }), "GET /v1/ci/runs?limit=5&after=ci_1"],
  [(a) => a.ci.get("ci_1"), "GET /v1/ci/runs/ci_1"],
  [(a) => a.evolution.artifacts({ limit: 5, after: "art_1" }), "GET /v1/evolution/artifacts?limit=5&after=art_1"],
  [(a) => a.evolution.keepArtifact({ kind: "prompt", content: "hi" }), "POST /v1/evolution/artifacts", TEXT],
  [
    (a) => a.evolution.keepArtifact({ kind: "weights", content: new Uint8Array([255, 0]), metadata: { a: 1 } }),
    "POST /v1/evolution/artifacts",
    { kind: "weights", content: "/wA=", encoding: "base64", metadata: { a: 1 } },
  ],
  [(a) => a.evolution.artifact("art_1"), "GET /v1/evolution/artifacts/art_1"],
  [(a) => a.evolution.evidence({ after: "evd_1" }), "GET /v1/evolution/evidence?after=evd_1"],
  [
    (a) => a.evolution.keepEvidence({ artifactId: "art_1", kind: "score", payload: { n: 1 } }),
    "POST /v1/evolution/evidence",
    { artifactId: "art_1", kind: "score", payload: { n: 1 } },
  ],
  [(a) => a.evolution.jobs({ after: "job_1" }), "GET /v1/evolution/jobs?after=job_1"],
  [(a) => a.evolution.startJob(JOB), "POST /v1/evolution/jobs", JOB],
  [(a) => a.evolution.job("job_1"), "GET /v1/evolution/jobs/job_1"],
  [(a) => a.evolution.activeRevision({ limit: 3, after: 7 }), "GET /v1/evolution/active-revision?limit=3&after=7"],
  [
    (a) => a.evolution.activate({ artifactId: "art_1", expectedRevision: 2 }),
    "PUT /v1/evolution/active-revision",
    { artifactId: "art_1", expectedRevision: 2 },
  ],
];

for (const [call, line, body] of ROUTES) {
  test(line, async () => {
    const { account, gateway } = accountOver({ told: true });
    assert.deepEqual(await call(account), { told: true });
    const [request] = gateway.requests;
    assert.equal(`${request.method} ${request.url.replace("https://g.example", "")}`, line);
    assert.deepEqual(request.body === undefined ? undefined : JSON.parse(request.body), body);
    assert.equal(request.headers.has("If-Match"), false);
  });
}

test("a version is sent as If-Match, also the first", async () => {
  const { account, gateway } = accountOver({}, {});
  for (const version of [0, 7]) await account.projects.configure("prj_1", CONFIG, { version });
  assert.deepEqual(gateway.requests.map(({ headers }) => headers.get("If-Match")), ["0", "7"]);
  assert.equal(gateway.requests[0].headers.get("Content-Type"), "application/json");
});

test("what is executed has a key of its own where none is given", async () => {
  const { account, gateway } = accountOver({}, {}, {}, {});
  for (const _ of [1, 2]) {
    await account.sandbox.create({ projectId: "prj_1" });
    await account.evolution.startJob({ program: "refine", inputs: ["art_1"] });
  }
  const keys = gateway.requests.map(({ body }) => JSON.parse(body).idempotencyKey);
  assert.equal(new Set(keys).size, 4);
});

test("an artifact's bytes come back, whatever their encoding", async () => {
  const { account } = accountOver({ content: "hé", encoding: "utf-8" }, { content: "/wA=", encoding: "base64" });
  assert.deepEqual([...(await account.evolution.content("art_1"))], [104, 195, 169]);
  assert.deepEqual([...(await account.evolution.content("art_1"))], [255, 0]);
});

const run = (status, stdout, stderr = "") => ({ status, stdout, stderr });

test("output comes in pieces, each once, until the run is over", async () => {
  const states = [
    run("queued", ""),
    run("running", "one "),
    run("running", "one "),
    run("running", "one two h\uFFFD", "oops"),
    run("cancelling", "one two h\u00E9\uFFFD", "oops"),
    run("cancelled", "one two h\u00E9\uFFFD!", "oops"),
  ];
  const { account, gateway } = accountOver(...states);
  const pieces = [];
  for await (const piece of account.sandbox.output("run_1", { pollMs: 1 })) pieces.push(piece);
  assert.deepEqual(pieces, [
    { stream: "stdout", text: "one " },
    { stream: "stdout", text: "two h" },
    { stream: "stderr", text: "oops" },
    { stream: "stdout", text: "\u00E9" },
    { stream: "stdout", text: "\uFFFD!" },
  ]);
  assert.equal(gateway.requests.length, states.length);
});

test("waiting ends with the run or the job, and with its signal", async () => {
  const { account, gateway } = accountOver(run("queued", ""), run("failed", "x"), { status: "running" }, { status: "succeeded", jobId: "job_1" });
  assert.equal((await account.sandbox.wait("run_1", { pollMs: 1 })).status, "failed");
  assert.equal((await account.evolution.waitForJob("job_1", { pollMs: 1 })).jobId, "job_1");
  assert.equal(gateway.requests.length, 4);
  const { account: other } = accountOver(run("running", ""), run("running", ""));
  const signal = AbortSignal.abort(new Error("enough"));
  await assert.rejects(other.sandbox.wait("run_1", { signal }), { message: "enough" });
});

test("the account key is asked for with a new public key each time", async () => {
  const { account, gateway } = accountOver(json({ jwe: "e30.YQ.YQ.YQ.YQ", kid: "key_1" }), json({ jwe: "e30.YQ.YQ.YQ.YQ", kid: "key_1" }));
  for (const _ of [1, 2]) await assert.rejects(account.accountKey(), TypeError, "a header without its algorithm is refused");
  const [one, two] = gateway.requests.map(({ body }) => JSON.parse(body).public_jwk);
  assert.deepEqual(Object.keys(one), ["kty", "crv", "x", "y"]);
  assert.notEqual(one.x, two.x);
});
