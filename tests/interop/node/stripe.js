import Stripe from "stripe";
import { done } from "./say.js";

const [origin, key, secret, body, header] = process.argv.slice(2);
const address = new URL(origin);
const options = { host: address.hostname, port: address.port, protocol: "http", maxNetworkRetries: 0, telemetry: false };
const stripe = new Stripe(key, options);

async function refusal(promise) {
  try {
    await promise;
  } catch (error) {
    return [error.type, error.statusCode, error.code ?? null];
  }
  return null;
}

const params = {
  mode: "payment",
  line_items: [{ price_data: { currency: "usd", unit_amount: 1250, product_data: { name: "Top-up" } }, quantity: 1 }],
  client_reference_id: "txn_1",
  metadata: { transaction_id: "txn_1" },
  success_url: "http://127.0.0.1:1/back",
};
const sessions = stripe.checkout.sessions;
const made = await sessions.create(params, { idempotencyKey: "one" });
const again = await sessions.create(params, { idempotencyKey: "one" });
const found = await sessions.retrieve(made.id);
const listed = [];
await sessions.create(params);
for await (const session of sessions.list({ limit: 1 })) listed.push(session.id);

await fetch(made.url, { method: "POST", redirect: "manual" });
const paid = await sessions.retrieve(made.id, { expand: ["payment_intent.latest_charge"] });
const refund = await stripe.refunds.create({ payment_intent: paid.payment_intent.id, amount: 250 });
const charge = await stripe.charges.retrieve(paid.payment_intent.latest_charge.id);

const moved = [];
const within = { created: { gte: paid.created, lt: paid.created + 86400 }, limit: 1, expand: ["data.source"] };
for await (const one of stripe.balanceTransactions.list(within)) moved.push([one.type, one.amount, one.source.object]);

const event = stripe.webhooks.constructEvent(body, header, secret);
const refusals = {
  key: await refusal(new Stripe("sk_test_wrong", options).balance.retrieve()),
  missing: await refusal(sessions.retrieve("cs_test_none")),
  idempotency: await refusal(sessions.create({ ...params, cancel_url: "http://x.example" }, { idempotencyKey: "one" })),
  account: await refusal(stripe.accounts.retrieve("acct_none")),
  signature: await refusal((async () => stripe.webhooks.constructEvent(`${body} `, header, secret))()),
};
done({
  made: { id: made.id, url: made.url, total: made.amount_total, live: made.livemode },
  again: again.id,
  replayed: again.lastResponse.headers["idempotent-replayed"],
  found: found.client_reference_id,
  listed,
  paid: [paid.status, paid.payment_status, paid.payment_intent.latest_charge.paid],
  moved,
  refunded: [refund.status, charge.amount_refunded],
  event: [event.type, event.data.object.object],
  refusals,
});
