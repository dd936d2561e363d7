/** A client that openapi-typescript and openapi-fetch make of the document; each line below is checked against its types. */

import * as DPoP from "dpop";
import createClient from "openapi-fetch";
import type { components, paths } from "./schema.js";

const [baseUrl, assertion] = process.argv.slice(2) as [string, string];
const keys = await DPoP.generateKeyPair("ES256", { extractable: true });
let nonce: string | undefined;
let accessToken: string | undefined;

/** Send a request with a proof, once more with the nonce that a refusal brings. */
async function send(request: Request): Promise<Response> {
  const url = new URL(request.url);
  for (let attempt = 1; ; attempt += 1) {
    const signed = new Request(request.clone());
    signed.headers.set(
      "DPoP",
      await DPoP.generateProof(keys, url.origin + url.pathname, request.method, nonce, accessToken),
    );
    if (accessToken) signed.headers.set("Authorization", `DPoP ${accessToken}`);
    const response = await fetch(signed);
    nonce = response.headers.get("DPoP-Nonce") ?? nonce;
    if (![400, 401].includes(response.status) || attempt > 1 || !response.headers.has("DPoP-Nonce")) return response;
  }
}

/** Return what a call gave, or throw what refused it. */
function given<T>(answer: { data?: T; error?: unknown }): T {
  if (answer.data === undefined) throw new Error(JSON.stringify(answer.error));
  return answer.data;
}

const client = createClient<paths>({ baseUrl, fetch: send });
const { kty, crv, x, y } = await crypto.subtle.exportKey("jwk", keys.publicKey);
const dpop_jwk = { kty, crv, x, y } as components["schemas"]["ExchangeRequest"]["dpop_jwk"];
const grant = given(await client.POST("/v1/auth/token/exchange", { body: { assertion, dpop_jwk } }));
accessToken = grant.access_token;

const created = given(await client.POST("/v1/organizations", { body: { name: "Acme" } }));
const listed = given(await client.GET("/v1/organizations"));
const path = { org_id: created.orgId };
const invitation = given(
  await client.POST("/v1/organizations/{org_id}/invitations", { params: { path }, body: { role: "billing" } }),
);
const revoked = await client.DELETE("/v1/organizations/{org_id}/invitations/{invitation_id}", {
  params: { path: { ...path, invitation_id: invitation.invitationId } },
});
const budget = given(
  await client.PUT("/v1/organizations/{org_id}/budgets", {
    params: { path },
    body: { scope: "org", limitMicrousd: 5_000_000 },
  }),
);
const disabled = await client.DELETE("/v1/organizations/{org_id}/budgets/{budget_id}", {
  params: { path: { ...path, budget_id: budget.budgetId } },
});

const lonely = await client.DELETE("/v1/organizations/{org_id}/members/{membership_id}", {
  params: { path: { ...path, membership_id: created.membershipId } },
});
const nameless = await client.POST("/v1/organizations", { body: { name: "" } });
const chat = { model: "fast", messages: [{ role: "user", content: "Hello" }] };
const header = { "Idempotency-Key": crypto.randomUUID(), "x-service-max-cost-microusd": 20_000 };
const paid = given(await client.POST("/v1/chat/completions", { params: { header }, body: chat }));
const dear = await client.POST("/v1/chat/completions", {
  params: { header: { ...header, "Idempotency-Key": crypto.randomUUID(), "x-service-max-cost-microusd": 1 } },
  body: chat,
});

/** The types know which codes each route refuses with: a misspelt one here does not compile. */
const refusals: {
  lonely: "last_owner" | undefined;
  nameless: string | null | undefined;
  dear: "max_cost_exceeded" | undefined;
} = {
  lonely: lonely.error?.error.code === "last_owner" ? lonely.error.error.code : undefined,
  nameless: nameless.error?.error.code === "invalid_request" ? nameless.error.error.param : undefined,
  dear: dear.error?.error.code === "max_cost_exceeded" ? dear.error.error.code : undefined,
};
const removed: components["schemas"]["InvitationResponse"] = given(revoked);
const ended: components["schemas"]["BudgetResponse"] = given(disabled);
const done = {
  created,
  listed: listed.data.map((organization) => organization.orgId),
  invitation,
  removed: { status: revoked.response.status, body: removed },
  ended: { status: disabled.response.status, body: ended },
  refusals,
  model: typeof paid === "string" ? paid : paid.model, // a stream is text
};
process.stdout.write(`${JSON.stringify({ done })}\n`);
