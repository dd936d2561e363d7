/** Uses what an app uses, to be compiled and not run: answers have types, and misuse does not compile. */

import { Gateway, GatewayError, ProofKey, dpopProof, fetchReceiptKeys, receiptOf, verifyReceipt } from "account-gateway-client";
import type { Answer, CallOptions, Judgement, Organizations, Page, Receipt, ReceiptClaims, Role, SandboxRun, Wallet } from "account-gateway-client";

type Same<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;
/** Take a value of exactly this type: `any` is none. */
function exactly<T>() {
  return <V>(value: V, ...proof: Same<V, T> extends true ? [] : [never]): V => value;
}

const options: CallOptions = { maxCostMicrousd: 20_000, signal: new AbortController().signal };

export async function signsIn(gateway: Gateway): Promise<void> {
  const signedIn = await gateway.completeSignIn();
  exactly<string | undefined>()(signedIn?.returnTo);
  if (!(await gateway.isSignedIn())) await gateway.signIn({ scopes: ["wallet:read"], theme: "dark" });
  exactly<Date | undefined>()((await gateway.device())?.expiresAt);
  const stop: () => void = gateway.onSignedOut(() => undefined);
  stop();
  // @ts-expect-error Scopes are needed.
  await gateway.beginSignIn({});
  // @ts-expect-error An address is needed.
  new Gateway({});
  // @ts-expect-error What it is made of is its own.
  gateway.session;
}

export async function pays(gateway: Gateway): Promise<void> {
  exactly<Wallet>()(await gateway.wallet());
  exactly<number>()((await gateway.usage({ limit: 5 }))[0]!.chargedMicrousd);
  exactly<number>()((await gateway.budgets())[0]!.spentMicrousd);
  const { components, sealedAt } = await gateway.usageRecord("use_1");
  exactly<string | undefined>()(components[0]?.amountMicrousd);
  exactly<string | null>()(sealedAt);
  exactly<ReceiptClaims>()(await gateway.verifyReceipt(await gateway.receipt("use_1")));
  const keys = await fetchReceiptKeys("https://gateway.example");
  exactly<number>()((await verifyReceipt("", keys, { issuer: "https://gateway.example" })).charge_microusd);
  // @ts-expect-error Whose receipt it must be is needed.
  await verifyReceipt("", keys, {});
  const stream = await gateway.chatStream({ model: "fast" }, options);
  for await (const text of stream.text()) exactly<string>()(text);
  exactly<Receipt | null>()(stream.receipt);
  // @ts-expect-error Its key stays.
  stream.idempotencyKey = "";
  exactly<Answer<{ id: string }>>()(await gateway.post<{ id: string }>("/v1/rerank", {}, options));
  exactly<Blob>()((await gateway.speech({}, options)).data);
  const asked = { state: "x", questions: { grounded: { type: "noul", instructions: "Is it?" } } } as const;
  exactly<Judgement>()((await gateway.judge(asked, options)).data);
  // @ts-expect-error A maximum is needed.
  await gateway.chat({}, {});
  // @ts-expect-error A form is needed.
  await gateway.transcribe({}, options);
}

export async function usesAnSdk(gateway: Gateway): Promise<void> {
  const receipts: Receipt[] = [];
  const fetch: typeof globalThis.fetch = gateway.sdkFetch({ maxCostMicrousd: 20_000, onReceipt: (it) => receipts.push(it) });
  exactly<string>()(gateway.apiUrl);
  exactly<string>()(gateway.baseUrl);
  await fetch(`${gateway.apiUrl}/models`);
  // @ts-expect-error A maximum is needed.
  gateway.sdkFetch({});
}

export async function talks(gateway: Gateway): Promise<void> {
  const session = await gateway.connectRealtime({ maxCostMicrousd: 50_000 });
  session.send({ type: "response.create" });
  for await (const event of session) exactly<any>()(event);
  exactly<number | undefined>()(session.closed?.code);
  exactly<number | undefined>()(session.usage?.chargeMicrousd);
}

export async function actsForAnOrganization(gateway: Gateway): Promise<void> {
  const organizations: Organizations = gateway.organizations;
  const [organization] = (await organizations.list()).data;
  exactly<Role>()(organization!.role);
  const invitation = await organizations.invite(organization!.orgId, { role: "member", email: "a@example.com" });
  exactly<string>()(invitation.token);
  exactly<string | null>()(invitation.email);
  exactly<number>()((await organizations.billing(organization!.orgId)).seatEstimate.products[0]!.billableSeats);
  exactly<Wallet>()(await gateway.inOrganization(organization!.orgId, { product: "studio" }).wallet());
  // @ts-expect-error There is no such role.
  await organizations.changeRole("", "", { role: "king" });
}

export async function executes(gateway: Gateway): Promise<void> {
  exactly<Page<SandboxRun>>()(await gateway.sandbox.list({ limit: 1 }));
  const { runId } = await gateway.sandbox.create({ projectId: "", files: { "main.py": "" } });
  for await (const { stream, text } of gateway.sandbox.output(runId, { pollMs: 200 })) {
    exactly<"stdout" | "stderr">()(stream);
    exactly<string>()(text);
  }
  exactly<"none" | "egress">()((await gateway.projects.executionConfig("")).network);
  exactly<Uint8Array>()(await gateway.evolution.content(""));
  exactly<Uint8Array>()((await gateway.accountKey()).key);
}

export async function proves(headers: Headers): Promise<void> {
  exactly<string>()(await dpopProof(await ProofKey.generate(), { method: "GET", url: "", now: 0 }));
  exactly<Receipt | null>()(receiptOf(headers));
  try {
    headers.get("");
  } catch (error) {
    if (error instanceof GatewayError) exactly<Record<string, unknown>>()(error.details);
  }
}
