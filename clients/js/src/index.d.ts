/** Money is in micro-USD: 1 USD is 1,000,000. Answers may carry more members than are named here. */

export interface SignInOptions {
  scopes: string[];
  /** Whether to stay signed in, for 30 days; true where left out. */
  deviceSession?: boolean;
  /** How the portal lists this device, 1 to 120 characters. */
  deviceName?: string;
  /** Handed back by `completeSignIn`. */
  returnTo?: string;
  product?: string;
  theme?: "light" | "dark";
}

export interface CallOptions {
  /** The most that the call may cost. */
  maxCostMicrousd: number;
  /** One for one logical call, the same on retries; a new one where left out. */
  idempotencyKey?: string;
  signal?: AbortSignal;
  /** How often a call is sent again after a failure that passes; 3 where left out. */
  retries?: number;
}

export interface Receipt {
  usageId: string;
  holdMicrousd: number | null;
  /** Null while a stream runs or an outcome is open. */
  chargeMicrousd: number | null;
  replayed: boolean;
}

export interface Answer<T = any> {
  data: T;
  receipt: Receipt | null;
}

export interface AccountView {
  did: string;
  displayName: string | null;
  createdAt: string;
  clientId: string;
  product: string | null;
  scopes: string[];
  organization: { orgId: string; membershipId: string; role: Role } | null;
  tokenExpiresAt: string;
}

export interface Model {
  id: string;
  routes: string[];
  pricing: Record<string, unknown>;
  authorized: boolean;
}

export interface Wallet {
  currency: string;
  balanceMicrousd: number;
  creditsMicrousd: number;
  heldMicrousd: number;
  availableMicrousd: number;
  debtMicrousd: number;
  credits: {
    creditId: string;
    product: string | null;
    grantedMicrousd: number;
    remainingMicrousd: number;
    expiresAt: string | null;
  }[];
}

export interface UsageRecord {
  usageId: string;
  requestId: string;
  route: string;
  model: string;
  product: string | null;
  orgId: string | null;
  membershipId: string | null;
  status: "settled" | "held" | "released" | "reconciling";
  inputTokens: number | null;
  outputTokens: number | null;
  heldMicrousd: number;
  chargedMicrousd: number;
  createdAt: string;
  settledAt: string | null;
  idempotencyKey: string | null;
}

export interface Question {
  type: "noul" | "choice" | "score";
  instructions: string;
  /** A description by label; a noul's, "true" and "false", may be left out, a score's labels are numbers. */
  criteria?: Record<string, string>;
}

export interface JudgementRequest {
  /** The default text backend where left out. */
  model?: string;
  state: string | Record<string, string>;
  questions: Record<string, Question>;
  /** At most four https or data URLs, where the backend takes images. */
  images?: string[];
  allow_fallback?: boolean;
}

export interface Judgement {
  id: string;
  /** `<alias>/<version>` of the backend that answered: thresholds belong to it, and to no other. */
  model: string;
  answers: Record<
    string,
    {
      type: "noul" | "choice" | "score";
      answer: boolean | string | number;
      probabilities: Record<string, number>;
    }
  >;
  fallback: { from: string; to: string; reason: "overloaded" } | null;
  usage: { input_tokens: number | null };
  created: number;
}

export interface Checkout {
  provider: string;
  transactionId: string;
  url: string;
}

/** With a product the money becomes a credit for it, else balance. */
export interface OrganizationCheckout {
  kind?: "top_up" | "payment_method";
  amountMicros?: number;
  product?: string;
  idempotencyKey?: string;
}

export interface ExternalMapping {
  product: string;
  provider: string;
  externalOrgId: string;
  mode: "test" | "live";
  status: "verified";
  verifiedAt: string;
}

export type Role = "owner" | "admin" | "billing" | "member";

export interface ProductView {
  product: string;
  enabled: boolean;
  maxSeats: number | null;
  assignedSeats: number;
  version: number;
}

export interface Organization {
  orgId: string;
  name: string;
  role: Role;
  membershipId: string;
  createdAt: string;
  version: number;
  products: ProductView[];
}

export interface Membership {
  membershipId: string;
  did: string;
  displayName: string;
  role: Role;
  status: "active" | "removed";
  createdAt: string;
  removedAt: string | null;
}

export interface Invitation {
  invitationId: string;
  role: Role;
  email: string | null;
  createdAt: string;
  expiresAt: string;
}

/** The token is shown this once. */
export interface NewInvitation extends Invitation {
  token: string;
  url: string;
}

export interface Seat {
  product: string;
  membershipId: string;
  assigned: boolean;
  assignedAt: string | null;
}

export interface AccessDecision {
  allowed: boolean;
  reason: "allowed" | "not_member" | "product_disabled" | "no_seat";
  versions: {
    organization: number | null;
    membership: number | null;
    entitlement: number | null;
    seat: number | null;
  };
}

export interface ContextToken {
  access_token: string;
  token_type: "DPoP";
  expires_in: number;
  scope: string;
  orgId: string;
  product: string | null;
}

export interface List<T> {
  data: T[];
}

/** Newest first; `limit` is 1 to 100, 20 where left out. */
export interface PageOptions {
  limit?: number;
  /** The `lastId` of the page before. */
  after?: string;
}

export interface Page<T> extends List<T> {
  hasMore: boolean;
  firstId: string | null;
  lastId: string | null;
}

/** One that pays for a product alone has its name. */
export type Credit = Wallet["credits"][number];

export interface Budget {
  budgetId: string;
  scope: "organization" | "product" | "member" | "member_product";
  product: string | null;
  membershipId: string | null;
  limitMicrousd: number;
  spentMicrousd: number;
  heldMicrousd: number;
  period: "month";
  status: "active" | "disabled";
}

export interface Invoice {
  invoiceId: string;
  /** Null until it is issued. */
  number: string | null;
  status: "draft" | "open" | "past_due" | "paid" | "void";
  periodStart: string;
  periodEnd: string;
  totalMicrousd: number;
  lines: { product: string; seatDays: number; amountMicrousd: number }[];
}

export interface SeatEstimate {
  /** YYYY-MM */
  month: string;
  accruedMicrousd: number;
  projectedMicrousd: number;
  products: {
    product: string;
    monthlyPriceMicrousd: number;
    assignedSeats: number;
    billableSeats: number;
    accruedMicrousd: number;
    projectedMicrousd: number;
    externallyBilled: boolean;
  }[];
}

export interface OrganizationBilling {
  orgId: string;
  wallet: Omit<Wallet, "credits">;
  credits: Credit[];
  budgets: Budget[];
  invoices: Invoice[];
  pastDue: boolean;
  seatEstimate: SeatEstimate;
}

export interface Tally {
  requests: number;
  inputTokens: number;
  outputTokens: number;
  chargedMicrousd: number;
  heldMicrousd: number;
}

export interface UsageSummary {
  orgId: string;
  /** YYYY-MM */
  month: string;
  periodStart: string;
  periodEnd: string;
  products: (Tally & { product: string | null })[];
  members: (Tally & { membershipId: string | null })[];
  totals: Tally;
}

export interface Project {
  projectId: string;
  name: string;
  product: string;
  createdAt: string;
}

/** What is left out of a PUT gets its default. */
export interface ExecutionConfigRequest {
  runtime?: string;
  command?: string[];
  environment?: Record<string, string>;
  timeoutSeconds?: number;
  memoryMb?: number;
  network?: "none" | "egress";
}

export interface ExecutionConfig extends Required<ExecutionConfigRequest> {
  projectId: string;
  version: number;
  updatedAt: string;
}

export interface ExecutionError {
  code: string;
  message: string;
}

export interface SandboxRunRequest {
  projectId: string;
  /** The project's own command where left out. */
  command?: string[];
  /** Texts by relative paths. */
  files?: Record<string, string>;
  stdin?: string;
  timeoutSeconds?: number;
  idempotencyKey?: string;
}

export interface SandboxRun {
  runId: string;
  projectId: string;
  status: "queued" | "running" | "succeeded" | "failed" | "timed_out" | "cancelling" | "cancelled";
  exitCode: number | null;
  stdout: string;
  stderr: string;
  truncated: boolean;
  error: ExecutionError | null;
  createdAt: string;
  startedAt: string | null;
  finishedAt: string | null;
}

export interface PollOptions {
  /** How long to wait before asking again; 1000 where left out. */
  pollMs?: number;
  signal?: AbortSignal;
}

export interface CIRun {
  runId: string;
  projectId: string;
  provider: string;
  externalId: string;
  ref: string;
  commit: string;
  status: "queued" | "running" | "succeeded" | "failed" | "cancelled";
  steps: {
    name: string;
    status: CIRun["status"] | "skipped";
    startedAt: string | null;
    finishedAt: string | null;
  }[];
  url: string | null;
  createdAt: string;
  finishedAt: string | null;
}

export interface Artifact {
  artifactId: string;
  kind: string;
  /** Hexadecimal. */
  contentSha256: string;
  /** Bytes. */
  size: number;
  metadata: Record<string, unknown>;
  createdAt: string;
}

export interface ArtifactContent extends Artifact {
  content: string;
  encoding: "utf-8" | "base64";
}

export interface Evidence {
  evidenceId: string;
  artifactId: string;
  kind: string;
  payload: Record<string, unknown>;
  createdAt: string;
}

export interface EvolutionJobRequest {
  program: string;
  /** Ids of artifacts. */
  inputs: string[];
  /** Ids of evidence. */
  evidence?: string[];
  idempotencyKey?: string;
}

export interface EvolutionJob {
  jobId: string;
  program: string;
  status: "queued" | "running" | "succeeded" | "failed" | "cancelled";
  inputs: string[];
  evidence: string[];
  resultArtifactId: string | null;
  error: ExecutionError | null;
  createdAt: string;
  finishedAt: string | null;
}

/** Revision 0, without an artifact, before the first activation. */
export interface Revision {
  revision: number;
  artifactId: string | null;
  activatedAt: string | null;
}

export interface ActiveRevision extends Revision {
  history: Revision[];
  hasMore: boolean;
}

export class Organizations {
  list(): Promise<List<Organization>>;
  create(body: { name: string }): Promise<Organization>;
  get(orgId: string): Promise<Organization>;
  members(orgId: string): Promise<List<Membership>>;
  changeRole(orgId: string, membershipId: string, body: { role: Role }): Promise<Membership>;
  removeMember(orgId: string, membershipId: string): Promise<Membership>;
  invitations(orgId: string): Promise<List<Invitation>>;
  invite(orgId: string, body: { role: Role; email?: string }): Promise<NewInvitation>;
  revokeInvitation(orgId: string, invitationId: string): Promise<Invitation>;
  acceptInvitation(body: { token: string }): Promise<{ orgId: string; membershipId: string; role: Role }>;
  products(orgId: string): Promise<List<ProductView>>;
  enableProduct(orgId: string, product: string): Promise<ProductView>;
  disableProduct(orgId: string, product: string): Promise<ProductView>;
  setMaxSeats(orgId: string, product: string, body: { maxSeats: number | null }): Promise<ProductView>;
  clearMaxSeats(orgId: string, product: string): Promise<ProductView>;
  seats(orgId: string, filter?: { product?: string }): Promise<List<Seat>>;
  assignSeat(orgId: string, product: string, membershipId: string): Promise<Seat>;
  revokeSeat(orgId: string, product: string, membershipId: string): Promise<Seat>;
  access(orgId: string, filter?: { product?: string }): Promise<AccessDecision>;
  billing(orgId: string): Promise<OrganizationBilling>;
  billingMembers(orgId: string): Promise<List<Membership>>;
  setBudget(
    orgId: string,
    budget: Pick<Budget, "scope" | "limitMicrousd"> & { product?: string; membershipId?: string },
  ): Promise<Budget>;
  disableBudget(orgId: string, budgetId: string): Promise<Budget>;
  usage(orgId: string, filter?: { month?: "current" | "previous" }): Promise<UsageSummary>;
  checkout(orgId: string, body: OrganizationCheckout): Promise<Checkout>;
  mapExternalBilling(
    orgId: string,
    body: { product: string; provider: string; externalOrgId: string; mode: "test" | "live" },
  ): Promise<ExternalMapping>;
  contextToken(body: { orgId: string; product?: string }): Promise<ContextToken>;
}

/** What is stored of responses. */
export class Responses {
  get(responseId: string): Promise<any>;
  delete(responseId: string): Promise<any>;
  /** Newest first where `order` is left out. */
  inputItems(
    responseId: string,
    options?: { limit?: number; after?: string; order?: "asc" | "desc" },
  ): Promise<{ object: "list"; data: any[]; first_id: string | null; last_id: string | null; has_more: boolean }>;
}

export class Projects {
  list(options?: PageOptions): Promise<Page<Project>>;
  executionConfig(projectId: string): Promise<ExecutionConfig>;
  /** With `version` only that version is replaced, else the code is `revision_conflict`. */
  configure(
    projectId: string,
    config: ExecutionConfigRequest,
    options?: { version?: number },
  ): Promise<ExecutionConfig>;
}

export class Sandbox {
  create(run: SandboxRunRequest): Promise<SandboxRun>;
  list(options?: PageOptions): Promise<Page<SandboxRun>>;
  get(runId: string): Promise<SandboxRun>;
  cancel(runId: string): Promise<SandboxRun>;
  /** Wait until a run is over. */
  wait(runId: string, options?: PollOptions): Promise<SandboxRun>;
  /** The output while it is written; it ends with the run. */
  output(
    runId: string,
    options?: PollOptions,
  ): AsyncGenerator<{ stream: "stdout" | "stderr"; text: string }, void, undefined>;
}

export class CI {
  list(options?: PageOptions): Promise<Page<CIRun>>;
  get(runId: string): Promise<CIRun>;
}

export class Evolution {
  artifacts(options?: PageOptions): Promise<Page<Artifact>>;
  /** Bytes travel as base64. The same kind and content is the same artifact. */
  keepArtifact(artifact: { kind: string; content: string | Uint8Array; metadata?: object }): Promise<Artifact>;
  artifact(artifactId: string): Promise<ArtifactContent>;
  content(artifactId: string): Promise<Uint8Array>;
  evidence(options?: PageOptions): Promise<Page<Evidence>>;
  keepEvidence(evidence: { artifactId: string; kind: string; payload: object }): Promise<Evidence>;
  jobs(options?: PageOptions): Promise<Page<EvolutionJob>>;
  startJob(job: EvolutionJobRequest): Promise<EvolutionJob>;
  job(jobId: string): Promise<EvolutionJob>;
  /** Wait until a job is over. */
  waitForJob(jobId: string, options?: PollOptions): Promise<EvolutionJob>;
  /** `limit` is how many earlier revisions `history` has at most; it begins behind the revision `after`. */
  activeRevision(options?: { limit?: number; after?: number }): Promise<ActiveRevision>;
  activate(revision: { artifactId: string; expectedRevision: number }): Promise<Revision>;
}

/** A metered answer that comes as a stream; whoever stops reading cancels the call. */
export class Stream implements AsyncIterable<any> {
  readonly response: Response;
  /** Send the call again with this key after a stream that broke off: it is not paid twice. */
  readonly idempotencyKey: string;
  /** The charge is there once the stream has ended. */
  receipt: Receipt | null;
  /** Each event's JSON. */
  [Symbol.asyncIterator](): AsyncGenerator<any, void, undefined>;
  /** The text as it grows. */
  text(): AsyncGenerator<string, void, undefined>;
}

export interface RealtimeOptions {
  /** An alias that serves sessions; "realtime" where left out. */
  model?: string;
  /** The most that the session may cost. */
  maxCostMicrousd: number;
  /** Characters of a subprotocol only: letters, digits and !#$%&'*+-.^_`|~ */
  idempotencyKey?: string;
}

/** A live session. Iterating it gives the vendor's events and the gateway's own, until it is over. */
export class RealtimeSession implements AsyncIterable<any> {
  readonly idempotencyKey: string;
  /** The latest `service.usage`: what the session has cost so far. */
  usage: { usageId: string; chargeMicrousd: number; holdMicrousd: number } | null;
  /** Why the session is over, once it is; 4402 where its maximum is spent. */
  closed: { code: number; reason: string } | null;
  /** Send an event of the vendor's realtime protocol. */
  send(event: object): void;
  close(): void;
  [Symbol.asyncIterator](): AsyncGenerator<any, void, undefined>;
}

export class Account {
  readonly organizations: Organizations;
  readonly responses: Responses;
  readonly projects: Projects;
  readonly sandbox: Sandbox;
  readonly ci: CI;
  readonly evolution: Evolution;
  /** Send any request to the gateway with token and proof; answers as the browser's own `fetch` does. */
  fetch(path: string, init?: RequestInit): Promise<Response>;
  account(): Promise<AccountView>;
  models(): Promise<Model[]>;
  model(id: string): Promise<Model>;
  wallet(): Promise<Wallet>;
  /** Newest first; `limit` is 1 to 100. */
  usage(options?: { limit?: number }): Promise<UsageRecord[]>;
  checkout(body: { amountMicros: number; idempotencyKey?: string }): Promise<Checkout>;
  /** The 32 bytes that an account's devices share, made at the first request; `kid` names them. */
  accountKey(): Promise<{ kid: string; key: Uint8Array }>;
  chat(body: object, options: CallOptions): Promise<Answer>;
  chatStream(body: object, options: CallOptions): Promise<Stream>;
  respond(body: object, options: CallOptions): Promise<Answer>;
  respondStream(body: object, options: CallOptions): Promise<Stream>;
  embeddings(body: object, options: CallOptions): Promise<Answer>;
  contextualEmbeddings(body: object, options: CallOptions): Promise<Answer>;
  lateInteraction(body: object, options: CallOptions): Promise<Answer>;
  images(body: object, options: CallOptions): Promise<Answer>;
  imageStream(body: object, options: CallOptions): Promise<Stream>;
  rerank(body: object, options: CallOptions): Promise<Answer>;
  /** Have a text spoken; the sound comes as a Blob, and its charge is in the usage record. */
  speech(body: object, options: CallOptions): Promise<Answer<Blob>>;
  /** Have a file transcribed: a form with `file` and `model`. */
  transcribe(form: FormData, options: CallOptions): Promise<Answer>;
  /** Have a file translated into English. */
  translate(form: FormData, options: CallOptions): Promise<Answer>;
  /** Ask typed questions about a state. Needs `judgement:evaluate`. */
  judge(body: JudgementRequest, options: CallOptions): Promise<Answer<Judgement>>;
  /** Any metered route whose answer is JSON. */
  post<T = any>(path: string, body: object | FormData, options: CallOptions): Promise<Answer<T>>;
  /** Any metered route that streams. */
  stream(path: string, body: object, options: CallOptions): Promise<Stream>;
  /** Open a live session over a WebSocket. It renews its own token. */
  connectRealtime(options: RealtimeOptions): Promise<RealtimeSession>;
  /** The same, acting for an organization: its wallet pays, its seats count. */
  inOrganization(orgId: string, options?: { product?: string }): Account;
}

export interface GatewayOptions {
  /** The gateway's address, which is also its issuer. */
  url: string;
  /** Where people sign in; the gateway's own address where left out. */
  portalUrl?: string;
  /** This app's origin where left out. */
  clientId?: string;
  /** The page that finishes signing in; this one where left out. */
  redirectUri?: string;
  fetch?: typeof globalThis.fetch;
}

export class Gateway extends Account {
  constructor(options: GatewayOptions);
  /** Go to the portal; this page is left. */
  signIn(options: SignInOptions): Promise<void>;
  /** Begin to sign in and give the address to go to. */
  beginSignIn(options: SignInOptions): Promise<string>;
  /** Finish signing in where this page was opened by the portal's answer; null where it was not. */
  completeSignIn(): Promise<{ scope: string; returnTo?: string } | null>;
  isSignedIn(): Promise<boolean>;
  device(): Promise<{ id: string; name: string; expiresAt: Date } | null>;
  /** Renew the access token now; narrower scopes hold until the next renewal. */
  refresh(options?: { scopes?: string[] }): Promise<void>;
  signOut(): Promise<void>;
  onSignedIn(listener: () => void): () => void;
  onSignedOut(listener: () => void): () => void;
}

export class ProofKey {
  readonly pair: CryptoKeyPair;
  readonly jwk: { kty: string; crv: string; x: string; y: string };
  /** RFC 7638. */
  readonly thumbprint: string;
  static generate(): Promise<ProofKey>;
  static of(pair: CryptoKeyPair): Promise<ProofKey>;
  sign(text: string): Promise<string>;
}

export function dpopProof(
  key: ProofKey,
  request: { method: string; url: string; now: number; accessToken?: string; nonce?: string },
): Promise<string>;

export function receiptOf(headers: Headers): Receipt | null;

export class ClientError extends Error {}
export class SignInError extends ClientError {
  readonly code: string;
}
export class SignedOut extends ClientError {}
export class ForeignOrigin extends ClientError {}
export class GatewayUnreachable extends ClientError {}
export class GatewayError extends ClientError {
  readonly status: number;
  readonly code: string;
  readonly param: string | null;
  readonly details: Record<string, unknown>;
  readonly requestId: string | null;
}
