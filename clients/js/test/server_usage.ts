/** Uses what a server uses, to be compiled without a browser's types and not run. */

import { Gateway, MemoryStore, ProductKey, ProductServer, ProofKey, verifyEvent } from "account-gateway-client";
import type { AccessToken, EventSeat, GatewayEvent, Receipt, Store, TokenSource } from "account-gateway-client";

type Same<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;
/** Take a value of exactly this type: `any` is none. */
function exactly<T>() {
  return <V>(value: V, ...proof: Same<V, T> extends true ? [] : [never]): V => value;
}

const url = "https://gateway.example";

export async function serves(pem: string): Promise<void> {
  const key = exactly<ProductKey>()(await ProductKey.from(pem));
  exactly<string>()(key.publicJwks().keys[0]!.kid);
  const product = new ProductServer({ url, issuer: "https://studio.example", product: "studio", key, timeoutSeconds: 5 });
  const tokens = exactly<TokenSource>()(product.tokensFor("did:web:a", ["infer:fast"], { consents: ["realtime"] }));
  const proofKey = exactly<ProofKey>()(await tokens.proofKey());
  exactly<AccessToken>()(await product.exchange(await product.assertion("did:web:a", [], proofKey), proofKey));
  const gateway = new Gateway({ url, tokens });
  const receipts: Receipt[] = [];
  gateway.sdkFetch({ maxCostMicrousd: 20_000, onReceipt: async (receipt) => void receipts.push(receipt) });
  // @ts-expect-error A key is read first.
  new ProductServer({ url, issuer: "", product: "", key: pem });
  // @ts-expect-error Capabilities are needed.
  product.tokensFor("did:web:a");
}

export async function isCalledBack(callback: URL): Promise<void> {
  const store: Store = new MemoryStore();
  const proofKey = await ProofKey.from({ kty: "OKP", crv: "Ed25519", x: "", d: "" });
  const gateway = new Gateway({ url, clientId: "http://127.0.0.1:7777", redirectUri: callback.href, store, proofKey });
  exactly<string>()(await gateway.beginSignIn({ scopes: ["wallet:read"] }));
  exactly<string | undefined>()((await gateway.completeSignIn(callback))?.scope);
}

export async function receives(request: Request, body: Buffer): Promise<number> {
  const event = exactly<GatewayEvent>()(await verifyEvent(await request.arrayBuffer(), request.headers, ["whsec_1", "whsec_2"]));
  exactly<number>()(event.sequence);
  switch (event.type) {
    case "usage.settled":
      return exactly<number>()(event.data.chargedMicrousd);
    case "wallet.low":
    case "wallet.empty":
      return event.data.thresholdMicrousd ?? event.data.availableMicrousd;
    case "seat.revoked":
      exactly<EventSeat>()(event.data);
      // @ts-expect-error A seat has no amount.
      return event.data.availableMicrousd;
  }
  const headers = { "webhook-id": "1", "webhook-signature": ["v1,a", "v1,b"], host: undefined };
  await verifyEvent(body, headers, "whsec_1", { now: new Date(), toleranceSeconds: 60 });
  // @ts-expect-error A body that was parsed has other bytes.
  await verifyEvent(JSON.parse("{}") as object, headers, "whsec_1");
  return 0;
}
