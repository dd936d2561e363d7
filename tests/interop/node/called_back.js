/** A program that a person signs in to: the portal's answer comes to an address on this machine. */

import { Gateway, MemoryStore } from "../../../clients/js/src/index.js";
import { ask, done } from "./say.js";

const [url] = process.argv.slice(2);
const where = { url, clientId: "http://127.0.0.1:7777", redirectUri: "http://127.0.0.1:7777/callback", store: new MemoryStore() };
const gateway = new Gateway(where);
const scopes = ["wallet:read", "infer:fast"];
const signedIn = await gateway.completeSignIn(await ask({ approve: await gateway.beginSignIn({ scopes, deviceName: "My tool" }) }));
const { clientId } = await gateway.account();
await gateway.refresh();
const again = new Gateway(where);
const [{ currency }, device] = [await again.wallet(), await again.device()];
await gateway.signOut();
const after = await again.wallet().catch(({ name }) => name);
done({ signedIn, clientId, currency, device: device.name, after });
