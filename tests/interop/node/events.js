import { Webhook } from "standardwebhooks";
import { done } from "./say.js";

const [secret, other, body, headers] = process.argv.slice(2);
const sent = JSON.parse(headers);

function refusal(action) {
  try {
    action();
  } catch (error) {
    return error.constructor.name;
  }
  return null;
}

done({
  event: new Webhook(secret).verify(body, sent),
  refusals: {
    secret: refusal(() => new Webhook(other).verify(body, sent)),
    body: refusal(() => new Webhook(secret).verify(`${body} `, sent)),
    old: refusal(() => new Webhook(secret).verify(body, { ...sent, "webhook-timestamp": "1600000000" })),
  },
});
