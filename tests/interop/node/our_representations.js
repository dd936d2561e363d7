/** The browser client's representations at a live gateway, and what they cost. */

import { done } from "./say.js";
import { signIn } from "./account.js";

const [baseUrl, assertion] = process.argv.slice(2);
const { account } = await signIn(baseUrl, assertion);
const options = { maxCostMicrousd: 20_000 };
const before = await account.wallet();
const contextual = await account.contextualEmbeddings(
  { model: "embedding-contextual", input_type: "document", documents: [["Badgers dig.", "At night."], ["Rain."]] },
  options,
);
const scored = await account.lateInteraction(
  { model: "late-interaction", query: "badgers", documents: [{ id: "rain", text: "Rain." }, { id: "dig", text: "\u{1F9A1} badgers dig" }], top_spans: 1 },
  options,
);
const after = await account.wallet();
done({ contextual, scored, spent: before.availableMicrousd - after.availableMicrousd });
