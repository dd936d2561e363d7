import assert from "node:assert/strict";
import { test } from "node:test";
import { accountOver, json, refusal } from "./fakes.js";

const ROUTES = [
  [(o) => o.list(), "GET /v1/organizations"],
  [(o) => o.create({ name: "Acme" }), "POST /v1/organizations", { name: "Acme" }],
  [(o) => o.get("org_1"), "GET /v1/organizations/org_1"],
  [(o) => o.members("org_1"), "GET /v1/organizations/org_1/members"],
  [(o) => o.changeRole("org_1", "mem_1", { role: "admin" }), "PUT /v1/organizations/org_1/members/mem_1", { role: "admin" }],
  [(o) => o.removeMember("org_1", "mem_1"), "DELETE /v1/organizations/org_1/members/mem_1"],
  [(o) => o.invitations("org_1"), "GET /v1/organizations/org_1/invitations"],
  [(o) => o.invite("org_1", { role: "member" }), "POST /v1/organizations/org_1/invitations", { role: "member" }],
  [(o) => o.revokeInvitation("org_1", "inv_1"), "DELETE /v1/organizations/org_1/invitations/inv_1"],
  [(o) => o.acceptInvitation({ token: "t" }), "POST /v1/org-invitations/accept", { token: "t" }],
  [(o) => o.products("org_1"), "GET /v1/organizations/org_1/products"],
  [(o) => o.enableProduct("org_1", "studio"), "PUT /v1/organizations/org_1/products/studio"],
  [(o) => o.disableProduct("org_1", "studio"), "DELETE /v1/organizations/org_1/products/studio"],
  [(o) => o.setMaxSeats("org_1", "studio", { maxSeats: null }), "PUT /v1/organizations/org_1/products/studio/max-seats", { maxSeats: null }],
  [(o) => o.clearMaxSeats("org_1", "studio"), "DELETE /v1/organizations/org_1/products/studio/max-seats"],
  [(o) => o.seats("org_1"), "GET /v1/organizations/org_1/seats"],
  [(o) => o.seats("org_1", { product: "a b" }), "GET /v1/organizations/org_1/seats?product=a+b"],
  [(o) => o.assignSeat("org_1", "studio", "mem_1"), "PUT /v1/organizations/org_1/products/studio/seats/mem_1"],
  [(o) => o.revokeSeat("org_1", "studio", "mem_1"), "DELETE /v1/organizations/org_1/products/studio/seats/mem_1"],
  [(o) => o.access("org_1", { product: "studio" }), "GET /v1/organizations/org_1/access?product=studio"],
  [
    (o) => o.checkout("org_1", { amountMicros: 5_000_000, product: "studio", idempotencyKey: "k" }),
    "POST /v1/organizations/org_1/billing/checkout",
    { kind: "top_up", amountMicros: 5_000_000, product: "studio", idempotencyKey: "k" },
  ],
  [
    (o) => o.mapExternalBilling("org_1", { product: "studio", provider: "stripe", externalOrgId: "acct_1", mode: "live" }),
    "POST /v1/organizations/org_1/billing/external-mapping",
    { product: "studio", provider: "stripe", externalOrgId: "acct_1", mode: "live" },
  ],
  [(o) => o.billing("org_1"), "GET /v1/organizations/org_1/billing"],
  [(o) => o.billingMembers("org_1"), "GET /v1/organizations/org_1/billing/members"],
  [
    (o) => o.setBudget("org_1", { scope: "product", limitMicrousd: 5, product: "studio" }),
    "PUT /v1/organizations/org_1/budgets",
    { scope: "product", limitMicrousd: 5, product: "studio" },
  ],
  [
    (o) => o.setBudget("org_1", { scope: "org", limitMicrousd: 5, period: "week", override: null }),
    "PUT /v1/organizations/org_1/budgets",
    { scope: "org", limitMicrousd: 5, period: "week", override: null },
  ],
  [(o) => o.disableBudget("org_1", "bud_1"), "DELETE /v1/organizations/org_1/budgets/bud_1"],
  [(o) => o.usage("org_1"), "GET /v1/organizations/org_1/usage"],
  [(o) => o.usage("org_1", { month: "previous" }), "GET /v1/organizations/org_1/usage?month=previous"],
  [(o) => o.contextToken({ orgId: "org_1" }), "POST /v1/auth/context", { orgId: "org_1" }],
];

for (const [call, line, body] of ROUTES) {
  test(line, async () => {
    const { account, gateway } = accountOver({ told: true });
    assert.deepEqual(await call(account.organizations), { told: true });
    const [request] = gateway.requests;
    assert.equal(`${request.method} ${request.url.replace("https://g.example", "")}`, line);
    assert.deepEqual(request.body === undefined ? undefined : JSON.parse(request.body), body);
    assert.equal(request.headers.get("Authorization"), "DPoP personal");
  });
}

test("a checkout has a key of its own where none is given, and a payment method no amount", async () => {
  const { account, gateway } = accountOver({}, {});
  for (const _ of [1, 2]) await account.organizations.checkout("org_1", { kind: "payment_method" });
  const [one, two] = gateway.requests.map((request) => JSON.parse(request.body));
  assert.deepEqual(Object.keys(one), ["kind", "idempotencyKey"]);
  assert.notEqual(one.idempotencyKey, two.idempotencyKey);
});

test("an id is one segment of a path, whatever it holds", async () => {
  const { account, gateway } = accountOver({});
  await account.organizations.get("../wallet?x#y");
  assert.equal(gateway.requests[0].url, "https://g.example/v1/organizations/..%2Fwallet%3Fx%23y");
  for (const id of ["", ".", ".."]) assert.throws(() => account.organizations.get(id), TypeError);
});

test("an organization's token is minted once for many and used for what follows", async () => {
  const minted = { access_token: "org-token", expires_in: 300, orgId: "org_1" };
  const { account, gateway } = accountOver(minted, {}, {}, {});
  const organization = account.inOrganization("org_1", { product: "studio" });
  await Promise.all([organization.wallet(), organization.wallet()]);
  await organization.account();
  const sent = gateway.requests.map(({ url, headers }) => [new URL(url).pathname, headers.get("Authorization")]);
  assert.deepEqual(sent[0], ["/v1/auth/context", "DPoP personal"]);
  assert.deepEqual(new Set(sent.slice(1).map(([, authorization]) => authorization)), new Set(["DPoP org-token"]));
  assert.equal(sent.length, 4);
  assert.deepEqual(JSON.parse(gateway.requests[0].body), { orgId: "org_1", product: "studio" });
});

test("an organization's token that is nearly over is minted anew", async () => {
  const { account, gateway } = accountOver({ access_token: "o1", expires_in: 5 }, {}, { access_token: "o2", expires_in: 300 }, {});
  const organization = account.inOrganization("org_1");
  await organization.wallet();
  await organization.wallet();
  assert.equal(gateway.requests[3].headers.get("Authorization"), "DPoP o2");
});

test("access that has ended is told with its reason, and asked again next time", async () => {
  const { account } = accountOver(refusal(403, "no_seat"), { access_token: "o1", expires_in: 300 }, json({ ok: 1 }));
  const organization = account.inOrganization("org_1");
  await assert.rejects(organization.wallet(), { name: "GatewayError", code: "no_seat", status: 403 });
  assert.deepEqual(await organization.wallet(), { ok: 1 });
});
