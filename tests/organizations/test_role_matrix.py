"""Every organization route with every kind of caller. Each cell is a test named `<route> as <caller>: <answer>`."""

from dataclasses import dataclass
from typing import Any

import pytest
from django.test import Client

from accounts.models import Account
from gateway.core.contract.capabilities import Capability
from gateway.core.json.strict import dumps
from organizations.operations import budgets, members, seats
from organizations.rules.roles import Role
from tests.contract.document import answer_schema, operation_at, validate
from tests.factories.accounts import Caller
from tests.factories.organizations import Team, account
from tests.factories.proofs import Signer, mint_token

pytestmark = pytest.mark.django_db

EVERYBODY = frozenset(Role)
PEOPLE = frozenset({Role.OWNER, Role.ADMIN})
MONEY = frozenset({Role.OWNER, Role.BILLING})
OWNER = frozenset({Role.OWNER})
# No payment provider is configured here, so a request that is allowed is answered by 503 `integration_unavailable`.
TOP_UP = {"kind": "top_up", "amountMicros": 5_000_000, "idempotencyKey": "one"}
MAPPING = {"product": "studio", "provider": "payments", "externalOrgId": "acct_1", "mode": "test"}


@dataclass(frozen=True)
class Row:
    """A row of the specification's table, with a valid body and the status for it."""

    method: str
    path: str
    capability: Capability
    roles: frozenset[Role]
    status: int = 200
    body: Any = None

    @property
    def name(self) -> str:
        """Return the row's name in the specification."""
        return f"{self.method} {self.path}"


TABLE = [
    Row("GET", "/{org}", Capability.ORGS_READ, EVERYBODY),
    Row("GET", "/{org}/members", Capability.ORGS_READ, PEOPLE),
    Row("POST", "/{org}/invitations", Capability.MEMBERS_MANAGE, PEOPLE, 201, {"role": "member"}),
    Row("GET", "/{org}/invitations", Capability.MEMBERS_MANAGE, PEOPLE),
    Row("PUT", "/{org}/members/{target}", Capability.MEMBERS_MANAGE, PEOPLE, 200, {"role": "billing"}),
    Row("DELETE", "/{org}/members/{target}", Capability.MEMBERS_MANAGE, PEOPLE),
    Row("GET", "/{org}/products", Capability.ORGS_READ, EVERYBODY),
    Row("PUT", "/{org}/products/courier", Capability.PRODUCTS_MANAGE, MONEY),
    Row("DELETE", "/{org}/products/studio", Capability.PRODUCTS_MANAGE, MONEY),
    Row("PUT", "/{org}/products/studio/max-seats", Capability.PRODUCTS_MANAGE, MONEY, 200, {"maxSeats": 5}),
    Row("DELETE", "/{org}/products/studio/max-seats", Capability.PRODUCTS_MANAGE, MONEY),
    Row("GET", "/{org}/seats", Capability.ORGS_READ, EVERYBODY),
    Row("PUT", "/{org}/products/studio/seats/{target}", Capability.SEATS_MANAGE, PEOPLE),
    Row("DELETE", "/{org}/products/studio/seats/{target}", Capability.SEATS_MANAGE, PEOPLE),
    Row("GET", "/{org}/billing", Capability.WALLET_READ, MONEY),
    Row("GET", "/{org}/billing/members", Capability.WALLET_READ, MONEY),
    Row("PUT", "/{org}/budgets", Capability.BUDGETS_MANAGE, MONEY, 200, {"scope": "org", "limitMicrousd": 9}),
    Row("DELETE", "/{org}/budgets/{budget}", Capability.BUDGETS_MANAGE, MONEY),
    Row("GET", "/{org}/usage", Capability.USAGE_READ, MONEY),
    Row("POST", "/{org}/billing/checkout", Capability.BILLING_CHECKOUT, MONEY, 503, TOP_UP),
    Row("POST", "/{org}/billing/external-mapping", Capability.BILLING_CHECKOUT, OWNER, 503, MAPPING),
]

OUTSIDERS = ("stranger", "removed", "token of another organization", "token without the capability")
CALLERS = (*Role, *(f"{role} with the organization's token" for role in Role), *OUTSIDERS)


class World:
    """An organization with one person of each role, one who was removed, a target, and a stranger."""

    def __init__(self) -> None:
        self.team = Team("owner")
        for role in (Role.ADMIN, Role.BILLING, Role.MEMBER):
            self.team.join(role.value, role)
        for name in ("target", "removed"):
            self.team.join(name)
        self.team.enable("studio")
        self.other = Team("stranger", "Other")
        self.other.join("owner", Role.OWNER)
        self.team.enable("courier")
        self._remove("removed")
        self.budget = budgets.put(
            org_id=self.team.id,
            limit_microusd=1,
            actor_did=self.team.owner.did,
        )

    def _remove(self, name: str) -> None:
        members.remove(org_id=self.team.id, membership_id=self.team[name].id, actor_did=self.team.owner.did)

    def caller(self, kind: str, capability: Capability) -> Caller:
        """Return the token for a kind of caller."""
        scopes = () if kind == "token without the capability" else (capability,)
        name, _, how = kind.partition(" with ")
        if kind.startswith("token"):
            name = "owner"
        org_id = self.team.id if how else None
        if kind == "token of another organization":
            org_id = self.other.id
        return _caller(account(name), scopes, org_id)


def _caller(who: Account, scopes: tuple[str, ...], org_id: str | None) -> Caller:
    signer = Signer()
    return Caller(who, scopes, signer, mint_token(who.did, scopes, signer, org_id=org_id))


def expected(row: Row, kind: str) -> str:
    """Return the specified outcome: `allowed`, or an error code."""
    match kind:
        case "stranger" | "removed":
            return "not_member"
        case "token of another organization":
            return "forbidden"
        case "token without the capability":
            return "insufficient_scope"
    return "allowed" if Role(kind.partition(" ")[0]) in row.roles else "forbidden"


CELLS = [(row, kind, expected(row, kind)) for row in TABLE for kind in CALLERS]


@pytest.fixture(scope="module")
def world(django_db_setup: None, django_db_blocker: Any) -> World:
    """Create one setup for all cells."""
    with django_db_blocker.unblock():
        return World()


@pytest.mark.parametrize(("row", "kind", "answer"), CELLS, ids=[f"{r.name} as {k}: {a}" for r, k, a in CELLS])
def test_cell(row: Row, kind: str, answer: str, world: World, client: Client) -> None:
    before = world.team.organization.version
    target = world.team["target"].id
    path = "/v1/organizations" + row.path.format(org=world.team.id, target=target, budget=world.budget.id)
    caller = world.caller(kind, row.capability)
    response = client.generic(
        row.method,
        path,
        data=b"" if row.body is None else dumps(row.body),
        content_type="application/json",
        headers=caller.headers(row.method, path),
    )
    if answer == "allowed":
        assert response.status_code == row.status, response.content
        validate(response.json(), answer_schema(operation_at(row.method, path), row.status))
    else:
        assert (response.status_code, response.json()["error"]["code"]) == (403, answer)
        assert world.team.organization.version == before


def test_an_access_denial_is_a_decision_not_an_error(world: World, client: Client) -> None:
    path = f"/v1/organizations/{world.team.id}/access"
    for name in ("stranger", "removed"):
        caller = _caller(account(name), (Capability.ORGS_READ,), None)
        response = client.get(path, headers=caller.headers("GET", path))
        assert response.status_code == 200
        assert response.json() == {
            "allowed": False,
            "reason": "not_member",
            "versions": {"organization": None, "membership": None, "entitlement": None, "seat": None},
        }


def test_an_organization_that_does_not_exist_looks_like_a_strangers(world: World, client: Client) -> None:
    caller = _caller(account("stranger"), (Capability.ORGS_READ,), None)
    answers = []
    for org_id in (world.team.id, "org_00000000000000000000000000"):
        for path in (f"/v1/organizations/{org_id}", f"/v1/organizations/{org_id}/access"):
            body = client.get(path, headers=caller.headers("GET", path)).json()
            body.get("error", {}).pop("request_id", None)
            answers.append(body)
    assert answers[:2] == answers[2:]


def test_a_seat_opens_the_product_and_versions_grow(world: World, client: Client) -> None:
    path = f"/v1/organizations/{world.team.id}/access"
    caller = _caller(account("target"), (Capability.ORGS_READ,), None)

    def decide() -> dict[str, Any]:
        return client.get(f"{path}?product=studio", headers=caller.headers("GET", path)).json()

    before = decide()
    assert (before["allowed"], before["reason"]) == (False, "no_seat")
    seats.assign(
        org_id=world.team.id,
        product="studio",
        membership_id=world.team["target"].id,
        actor_did=world.team.owner.did,
    )
    after = decide()
    assert (after["allowed"], after["reason"]) == (True, "allowed")
    assert after["versions"]["organization"] > before["versions"]["organization"]
    assert after["versions"]["seat"] == 1
