"""Other organizations' ids, in every path with an organization's id, get the same responses as unknown ids.

The paths come from the URLconf, so new ones are tested automatically.
"""

import itertools
import re
import time
from functools import partial
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.utils import timezone

from accounts.operations import suspension
from billing.models import Budget, Checkout, Invoice, InvoicePayment
from gateway.core.contract.capabilities import Capability
from gateway.core.contract.ids import new_id
from gateway.core.json.strict import dumps
from organizations.models import AuditEntry, Entitlement, Invitation, Membership, Organization, Seat
from organizations.operations import budgets, invitations, members
from organizations.rules.roles import Role
from tests.factories import invoicing
from tests.factories.accounts import Caller
from tests.factories.organizations import Team, account
from tests.factories.payments import top_up
from tests.factories.proofs import Signer, mint_token
from tests.gateway.every_url import parameters_of, templates

pytestmark = [
    pytest.mark.django_db,
    pytest.mark.usefixtures("untracked", "remembered_sign_ins", "unrecorded_pages"),
]

ROOTS = ("/v1/organizations/{org_id}", "/api/organizations/{org_id}", "/organizations/{org_id}")
PATHS = sorted(path for path in templates() if path.startswith(ROOTS))
IDS = {"membership_id": "mem", "invitation_id": "inv", "budget_id": "bud", "transaction_id": "txn", "invoice_id": "inv"}
BODIES: tuple[dict[str, Any], ...] = (
    {},
    {"role": "member"},
    {"maxSeats": 1},
    {"scope": "member", "limitMicrousd": 1, "membershipId": "{membership_id}"},
)
SENDS = [("GET", {}), ("DELETE", {}), *itertools.product(("POST", "PUT"), BODIES)]
# The callers: outsiders, members with an insufficient role, and holders of an organization's token.
OWNER, MALLORY, STRANGER, REMOVED, SUSPENDED = "olivia", "mallory", "stranger", "removed", "suspended"
OUTSIDERS = (MALLORY, STRANGER, REMOVED, SUSPENDED)
INSIDERS = ("demoted", "seatless", "seatless with the product's token")
TOKEN_SECONDS = 60
TOKENS = ("mallory with her organization's token", "removed with the organization's token")


class TwoOrganizations:
    """Two organizations with people, products, invitations, budgets and payments. Mallory owns only the second."""

    def __init__(self) -> None:
        self.team, self.other = Team(OWNER), Team(MALLORY, "Other")
        for team in (self.team, self.other):
            team.enable("studio")
        self.bob = self.team.join("bob")
        self.ids = self._ids()
        self._people()
        self.askers = {name: Asker(self, name) for name in (OWNER, *OUTSIDERS, *INSIDERS, *TOKENS)}
        suspension.suspend(account=account(SUSPENDED), now=timezone.now())
        self._statement = self._of_records()
        self.made = self.state()  # each test begins with it

    def _people(self) -> None:
        """Add people who were removed or demoted."""
        for name in (REMOVED, SUSPENDED, "demoted"):
            self.team.join(name, Role.OWNER)
        self.team.join("seatless")
        actor = self.team.owner.did
        members.remove(org_id=self.team.id, membership_id=self.team[REMOVED].id, actor_did=actor)
        demoted = self.team["demoted"].id
        members.change_role(org_id=self.team.id, membership_id=demoted, role=Role.MEMBER, actor_did=actor)

    def _ids(self) -> dict[str, str]:
        """Return ids of the first organization, by the names of path parameters."""
        actor = self.team.owner.did
        invitation, _ = invitations.invite(org_id=self.team.id, role=Role.MEMBER, email=None, actor_did=actor)
        budget = budgets.put(org_id=self.team.id, limit_microusd=9, membership_id=self.bob.id, actor_did=actor)
        payment = top_up(("organization", self.team.id), 5_000_000)
        return {
            "membership_id": self.bob.id,
            "invitation_id": invitation.id,
            "budget_id": budget.id,
            "transaction_id": payment.pk,
            "invoice_id": invoicing.refused(self.team.id).pk,
        }

    def state(self) -> list[Any]:
        """Return all records of the first organization that a request could change, each with the number of its table."""
        with connection.cursor() as cursor:
            cursor.execute(*self._statement)
            return sorted(cursor.fetchall(), key=str)

    def _of_records(self) -> tuple[str, list[Any]]:
        """Write one statement, with its parameters, that reads the records."""
        mine = {"organization": self.team.id}
        rows: list[Any] = [each.objects.filter(**mine) for each in (AuditEntry, Entitlement, Invitation, Membership)]
        rows += [
            Organization.objects.filter(pk=self.team.id),
            Seat.objects.filter(membership__organization=self.team.id),
        ]
        rows += [
            Invoice.objects.filter(org_id=self.team.id),
            InvoicePayment.objects.filter(invoice__org_id=self.team.id),
        ]
        rows += [Budget.objects.filter(wallet__owner_key=self.team.id), Checkout.objects.filter(owner_key=self.team.id)]
        read = [each.values().query.sql_with_params() for each in rows]
        selects = [f"SELECT {table}, to_jsonb(t) FROM ({sql}) t" for table, (sql, _) in enumerate(read)]
        return " UNION ALL ".join(selects), [parameter for _, parameters in read for parameter in parameters]


class Asker:
    """A person with a signed-in browser and a token with all capabilities."""

    def __init__(self, both: TwoOrganizations, name: str) -> None:
        who = account(name.partition(" ")[0])
        narrowed: dict[str, Any] = {}
        if "organization's" in name:
            narrowed = {"org_id": (both.other if who.did.endswith(MALLORY) else both.team).id}
        if "product's" in name:
            narrowed = {"org_id": both.team.id, "product": "studio"}
        self.client = Client(raise_request_exception=False)
        self.client.force_login(who, backend="django.contrib.auth.backends.ModelBackend")
        signer, scopes = Signer(), tuple(Capability)
        self._mint = partial(mint_token, who.did, scopes, signer, **narrowed)
        self.caller, self._minted_at = Caller(who, scopes, signer, self._mint()), time.monotonic()

    def _headers(self, method: str, path: str) -> dict[str, str]:
        """Sign a request, with a new token once the last one is old: all tests together may outlast one."""
        if time.monotonic() - self._minted_at > TOKEN_SECONDS:
            self.caller.token, self._minted_at = self._mint(), time.monotonic()
        return self.caller.headers(method, path)

    def ask(self, method: str, path: str, body: Any) -> tuple[int, str]:
        """Return status and body of a response, and of the page that it redirects to, without parts that always
        differ.
        """
        if path.startswith("/organizations/"):
            post = self.client.post(path, body, follow=True) if method == "POST" else None
            answer = post or self.client.generic(method, path)
        else:
            headers = self._headers(method, path) if path.startswith("/v1/") else {}
            answer = self.client.generic(method, path, dumps(body), content_type="application/json", headers=headers)
        chain = getattr(answer, "redirect_chain", None)
        text = re.sub(r'(req_\w+|name="csrfmiddlewaretoken" value="\w+")', "", answer.content.decode(errors="replace"))
        return (chain[0][1] if chain else answer.status_code), text


@pytest.fixture(scope="module")
def both(django_db_setup: None, django_db_blocker: Any) -> TwoOrganizations:
    """Create the two organizations once for all tests."""
    with django_db_blocker.unblock():
        return TwoOrganizations()


def unknown() -> dict[str, str]:
    return {name: new_id(prefix) for name, prefix in IDS.items()}


def filled(value: Any, ids: dict[str, str]) -> Any:
    return {key: each.format(**ids) if isinstance(each, str) else each for key, each in value.items()}


def compare(asker: Asker, path: str, theirs: dict[str, str], nobodys: dict[str, str]) -> set[int]:
    """Check that two sets of ids get the same responses to every method and body; return the statuses.

    A method that the path does not have is tried with one body: whatever it is, nothing reads it.
    """
    statuses, missing = set[int](), set[str]()
    for method, body in SENDS:
        if method in missing:
            continue
        answers = []
        for ids in (theirs, nobodys):
            status, text = asker.ask(method, path.format(product="studio", **ids), filled(body, ids))
            for name, each in ids.items():
                text = text.replace(each, name)
            answers.append((status, text))
        assert answers[0] == answers[1], (method, body)
        statuses.add(answers[0][0])
        if answers[0][0] == 405:
            missing.add(method)
    return statuses


WITH_IDS = [path for path in PATHS if set(parameters_of(path)) & set(IDS)]
BUDGETS = [f"{root}/budgets" for root in ROOTS[:2]]


@pytest.mark.parametrize("path", [*WITH_IDS, *BUDGETS])
def test_an_id_of_another_organization_is_as_unknown_as_one_that_never_was(both: TwoOrganizations, path: str) -> None:
    own = {"org_id": both.other.id}
    statuses = compare(both.askers[MALLORY], path, own | both.ids, own | unknown())
    assert not statuses & {200, 201}
    assert both.state() == both.made


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize("who", [*OUTSIDERS, *TOKENS])
def test_an_organization_of_others_is_as_unknown_as_one_that_never_was(
    both: TwoOrganizations, who: str, path: str
) -> None:
    statuses = compare(
        both.askers[who], path, {"org_id": both.team.id} | both.ids, {"org_id": new_id("org")} | unknown()
    )
    assert not statuses & {200, 201} or path.endswith("/access")  # which returns a decision: not allowed
    assert both.state() == both.made


@pytest.mark.parametrize("product", [{}, {"product": "studio"}])
@pytest.mark.parametrize("who", [*OUTSIDERS, *TOKENS])
def test_no_token_is_to_be_had_for_an_organization_of_others(
    both: TwoOrganizations, who: str, product: dict[str, str]
) -> None:
    ids = (both.team.id, new_id("org"))
    theirs, nobodys = [both.askers[who].ask("POST", "/v1/auth/context", {"orgId": each, **product}) for each in ids]
    assert theirs == nobodys
    assert theirs[0] in (401, 403)


@pytest.mark.parametrize("path", WITH_IDS)
@pytest.mark.parametrize("who", INSIDERS)
def test_a_member_with_an_insufficient_role_learns_of_no_id(both: TwoOrganizations, who: str, path: str) -> None:
    own = {"org_id": both.team.id}
    statuses = compare(both.askers[who], path, own | both.ids, own | unknown())
    assert not statuses & {200, 201}
    assert both.state() == both.made


@pytest.mark.parametrize("path", WITH_IDS)
def test_the_owner_gets_through(both: TwoOrganizations, path: str) -> None:
    """The same requests succeed for permitted callers, so the refusals above depend on the caller."""
    ids = {"org_id": both.team.id, "product": "studio"} | both.ids
    statuses = (both.askers[OWNER].ask(method, path.format(**ids), filled(body, ids))[0] for method, body in SENDS)
    assert any(status in (200, 201, 303) for status in statuses)
