// Signs events with the published library and verifies them with ours. Arguments: the client's folder.

import { Buffer } from "node:buffer";
import { randomBytes } from "node:crypto";
import { Webhook } from "standardwebhooks";

const { verifyEvent } = await import(`${process.argv[2]}/src/webhook_events.js`);
const found = { verified: 0, refused: 0 };

for (let size = 24; size <= 64; size += 1) {
  const [secret, other] = [0, 1].map(() => `whsec_${randomBytes(size).toString("base64")}`);
  const data = { text: randomBytes(size).toString("latin1"), size };
  const body = JSON.stringify({ id: `evt_${size}`, type: "test.ping", createdAt: "", sequence: size, data });
  const now = new Date();
  const signature = new Webhook(secret).sign(`evt_${size}`, now, body);
  const seconds = String(Math.floor(now.getTime() / 1000));
  const headers = { "webhook-id": `evt_${size}`, "webhook-timestamp": seconds, "webhook-signature": signature };
  const event = await verifyEvent(Buffer.from(body), headers, secret);
  new Webhook(secret).verify(body, headers);
  if (event.data.text === data.text) found.verified += 1;
  await verifyEvent(body, headers, other).catch(() => (found.refused += 1));
}

console.log(JSON.stringify({ done: found }));
