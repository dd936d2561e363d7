/** A signed receipt as `jose` from npm verifies it, and as the browser client does. */

import { createRemoteJWKSet, jwtVerify } from "jose";
import { signIn } from "./account.js";
import { done } from "./say.js";

const [baseUrl, assertion] = process.argv.slice(2);
const { account } = await signIn(baseUrl, assertion);
const body = { model: "fast", messages: [{ role: "user", content: "Hello" }] };
const { receipt: paid } = await account.chat(body, { maxCostMicrousd: 20_000 });
const record = await account.usageRecord(paid.usageId);
const receipt = await account.receipt(paid.usageId);

const keys = createRemoteJWKSet(new URL("/.well-known/receipt-keys.json", baseUrl));
const options = { typ: "receipt+jwt", algorithms: ["ES256"], issuer: baseUrl };
const { payload, protectedHeader } = await jwtVerify(receipt, keys, options);
const ours = await account.verifyReceipt(receipt);

const [header, claims, signature] = receipt.split(".");
const cheaper = Buffer.from(JSON.stringify({ ...payload, charge_microusd: 0, components: [] })).toString("base64url");
const none = Buffer.from(JSON.stringify({ ...protectedHeader, alg: "none" })).toString("base64url");
const refusals = [];
for (const forged of [`${header}.${cheaper}.${signature}`, `${none}.${claims}.`]) {
  for (const verify of [() => jwtVerify(forged, keys, options), () => account.verifyReceipt(forged)]) {
    refusals.push(await verify().then(() => null, (error) => error.name));
  }
}
done({ paid, record, payload, ours, protectedHeader, refusals, sent: JSON.stringify(body) });
