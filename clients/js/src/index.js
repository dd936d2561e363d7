/** Money is in micro-USD: 1 USD is 1,000,000. Answers may carry more members than are named here. */

export * from "./account.js";
export { CachedTokens } from "./cached_tokens.js";
export * from "./ci.js";
export * from "./errors.js";
export * from "./evolution.js";
export * from "./gateway.js";
export { ProofKey } from "./keys.js";
export { MemoryStore } from "./memory_store.js";
export * from "./organizations.js";
export { ProductKey } from "./product_key.js";
export { ProductServer } from "./product_server.js";
export * from "./projects.js";
export { dpopProof } from "./proof.js";
export * from "./realtime.js";
export { receiptOf } from "./receipts.js";
export * from "./responses.js";
export * from "./sandbox.js";
export { fetchReceiptKeys, verifyReceipt } from "./signed_receipts.js";
export * from "./stream.js";
export { verifyEvent } from "./webhook_events.js";

/** @typedef {import("./cached_tokens.js").AccessToken} AccessToken */
/** @typedef {import("./caller.js").TokenSource} TokenSource */
/** @typedef {import("./executions.js").ExecutionError} ExecutionError */
/** @typedef {import("./executions.js").PollOptions} PollOptions */
/** @template [T=any] @typedef {import("./metered.js").Answer<T>} Answer */
/** @typedef {import("./metered.js").CallOptions} CallOptions */
/** @typedef {import("./metered.js").Judgement} Judgement */
/** @typedef {import("./metered.js").JudgementRequest} JudgementRequest */
/** @typedef {import("./metered.js").Question} Question */
/** @typedef {import("./private_keys.js").Jwk} Jwk */
/** @typedef {import("./product_server.js").ProductOptions} ProductOptions */
/** @typedef {import("./product_server.js").TokenOptions} TokenOptions */
/** @typedef {import("./receipts.js").Receipt} Receipt */
/** @typedef {import("./signed_receipts.js").Component} Component */
/** @typedef {import("./signed_receipts.js").ReceiptClaims} ReceiptClaims */
/** @typedef {import("./signed_receipts.js").ReceiptKeys} ReceiptKeys */
/** @typedef {import("./sdk_fetch.js").SdkOptions} SdkOptions */
/** @template T @typedef {import("./routes.js").List<T>} List */
/** @template T @typedef {import("./routes.js").Page<T>} Page */
/** @typedef {import("./routes.js").PageOptions} PageOptions */
/** @typedef {import("./signing_key.js").Algorithm} Algorithm */
/** @typedef {import("./store.js").Store} Store */
/** @typedef {import("./webhook_events.js").GatewayEvent} GatewayEvent */
/** @typedef {import("./webhook_events.js").BudgetEvent} BudgetEvent */
/** @typedef {import("./webhook_events.js").DeviceEvent} DeviceEvent */
/** @typedef {import("./webhook_events.js").EventBudget} EventBudget */
/** @typedef {import("./webhook_events.js").EventDevice} EventDevice */
/** @typedef {import("./webhook_events.js").EventInvoice} EventInvoice */
/** @typedef {import("./webhook_events.js").EventMembership} EventMembership */
/** @typedef {import("./webhook_events.js").EventSeat} EventSeat */
/** @typedef {import("./webhook_events.js").EventUsage} EventUsage */
/** @typedef {import("./webhook_events.js").EventWallet} EventWallet */
/** @typedef {import("./webhook_events.js").InvoiceEvent} InvoiceEvent */
/** @typedef {import("./webhook_events.js").MembershipEvent} MembershipEvent */
/** @typedef {import("./webhook_events.js").PingEvent} PingEvent */
/** @typedef {import("./webhook_events.js").ReceivedHeaders} ReceivedHeaders */
/** @typedef {import("./webhook_events.js").SeatEvent} SeatEvent */
/** @typedef {import("./webhook_events.js").UsageEvent} UsageEvent */
/** @typedef {import("./webhook_events.js").WalletEvent} WalletEvent */
