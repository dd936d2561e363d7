// A remote sandbox runner, written from docs/sandbox.md alone: it executes each run as a child process of its own.
// It writes its address as its first line. SECRET is the shared secret, GATEWAY the origin at which it reaches the gateway.
import { spawn } from 'node:child_process';
import { createHmac, timingSafeEqual } from 'node:crypto';
import { createServer } from 'node:http';

const runs = new Map();

function signature(timestamp, method, path, body) {
  const signed = Buffer.concat([Buffer.from(`${timestamp}.${method}.${path}.`), body]);
  return `sha256=${createHmac('sha256', process.env.SECRET).update(signed).digest('hex')}`;
}

function isGenuine(request, body) {
  const timestamp = request.headers['x-timestamp'] ?? '';
  const given = Buffer.from(request.headers['x-signature-256'] ?? '');
  const expected = Buffer.from(signature(timestamp, request.method, request.url, body));
  const isFresh = Math.abs(Date.now() / 1000 - Number(timestamp)) <= 300;
  return isFresh && given.length === expected.length && timingSafeEqual(given, expected);
}

async function report(run) {
  const { runId, sequence, status, stdout, stderr, exitCode } = run;
  const body = Buffer.from(JSON.stringify({ runId, sequence: sequence + 1, status, stdout, stderr, exitCode, truncated: false }));
  run.sequence += 1;
  const timestamp = String(Math.floor(Date.now() / 1000));
  const path = new URL(run.callbackUrl).pathname;
  const headers = { 'X-Timestamp': timestamp, 'X-Signature-256': signature(timestamp, 'POST', path, body) };
  await fetch(process.env.GATEWAY + path, { method: 'POST', body, headers });
}

function start(order) {
  const [program, ...rest] = order.command;
  const child = spawn(program, rest, { detached: true });
  const run = { runId: order.runId, callbackUrl: order.callbackUrl, child, sequence: 0, status: 'running', stdout: '', stderr: '', exitCode: null };
  runs.set(order.runId, run);
  for (const stream of ['stdout', 'stderr']) {
    child[stream].on('data', (data) => { run[stream] += data; report(run); });
  }
  child.stdin.end(order.stdin);
  child.on('close', (code) => {
    run.exitCode = code;
    run.status = run.status === 'cancelling' ? 'cancelled' : code === 0 ? 'succeeded' : 'failed';
    report(run);
  });
}

function end(run) {
  if (run.child.exitCode === null) process.kill(-run.child.pid, 'SIGKILL');
}

function answer(request, body) {
  const [, , runId, verb] = request.url.split('/');
  if (!isGenuine(request, body)) return [401, {}];
  if (request.method === 'POST' && !runId) return [202, start(JSON.parse(body)) ?? {}];
  const run = runs.get(runId);
  if (!run) return [404, {}];
  if (verb === 'cancel') {
    run.status = 'cancelling';
    end(run);
    return [202, {}];
  }
  const { sequence, status, stdout, stderr, exitCode } = run;
  return [200, { runId, sequence, status, stdout, stderr, exitCode }];
}

process.on('SIGTERM', () => { runs.forEach(end); process.exit(); });
const server = createServer(async (request, response) => {
  const body = Buffer.concat(await request.toArray());
  const [status, told] = answer(request, body);
  response.writeHead(status, { 'Content-Type': 'application/json' }).end(JSON.stringify(told));
});
server.listen(0, '127.0.0.1', () => console.log(`http://127.0.0.1:${server.address().port}`));
