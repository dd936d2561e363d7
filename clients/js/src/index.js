export { Account } from "./account.js";
export { ClientError, ForeignOrigin, GatewayError, GatewayUnreachable, SignedOut, SignInError } from "./errors.js";
export { Gateway } from "./gateway.js";
export { ProofKey } from "./keys.js";
export { dpopProof } from "./proof.js";
export { RealtimeSession } from "./realtime.js";
export { receiptOf } from "./receipts.js";
export { Stream } from "./stream.js";
