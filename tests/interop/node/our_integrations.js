/** The browser client's groups of routes at a live gateway that executes programs in its sandbox. */

import { done } from "./say.js";
import { signIn } from "./account.js";

const [baseUrl, assertion] = process.argv.slice(2);
const { account } = await signIn(baseUrl, assertion);
const pollMs = 200;

const { projectId } = (await account.projects.list()).data.find(({ name }) => name === "Docs");
const before = await account.projects.executionConfig(projectId);
const after = await account.projects.configure(projectId, { command: ["true"] }, { version: before.version });
const conflict = await account.projects.configure(projectId, {}, { version: before.version }).catch(({ code, details }) => ({ code, details }));
await account.projects.configure(projectId, {});

const loop = ["sh", "-c", "echo begun; while true; do sleep 1; done"];
const { runId } = await account.sandbox.create({ projectId, command: loop, timeoutSeconds: 60 });
const heard = [];
for await (const piece of account.sandbox.output(runId, { pollMs })) {
  heard.push(piece);
  const { status } = await account.sandbox.get(runId);
  heard.push(status, (await account.sandbox.cancel(runId)).status);
}
const cancelled = (await account.sandbox.wait(runId, { pollMs })).status;
const listed = (await account.sandbox.list({ limit: 1 })).data[0].runId === runId;

const artifact = await account.evolution.keepArtifact({ kind: "weights", content: crypto.getRandomValues(new Uint8Array(9)) });
const digest = await crypto.subtle.digest("SHA-256", await account.evolution.content(artifact.artifactId));
const prompt = await account.evolution.keepArtifact({ kind: "prompt", content: `Be brief. ${crypto.randomUUID()}` });
const evidence = await account.evolution.keepEvidence({ artifactId: prompt.artifactId, kind: "score", payload: { n: 1 } });
const begun = await account.evolution.startJob({ program: "refine", inputs: [prompt.artifactId], evidence: [evidence.evidenceId] });
const job = await account.evolution.waitForJob(begun.jobId, { pollMs });
const made = await account.evolution.artifact(job.resultArtifactId);
const { revision } = await account.evolution.activeRevision();
const active = await account.evolution.activate({ artifactId: prompt.artifactId, expectedRevision: revision });

const keys = await Promise.all([account.accountKey(), account.accountKey()]);
done({
  versions: [before.version, after.version],
  conflict,
  heard,
  cancelled,
  listed,
  hashed: Buffer.from(digest).toString("hex") === artifact.contentSha256,
  job: { status: job.status, made: made.content },
  revisions: [revision, active.revision, (await account.evolution.activeRevision({ limit: 1 })).artifactId === prompt.artifactId],
  ciRuns: (await account.ci.list({ limit: 5 })).data.length,
  unknown: await account.ci.get("ci_unknown").catch(({ code }) => code),
  accountKeys: keys.map(({ kid, key }) => [kid, Buffer.from(key).toString("hex")]),
});
