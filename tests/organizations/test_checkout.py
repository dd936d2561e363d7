"""POST …/billing/checkout: permissions, audit log, and crediting of payments."""

import threading
from typing import Any

import pytest
from django.db import connection, transaction
from django.test import Client
from django.utils import timezone

from billing.models import Checkout, CreditLot
from billing.operations import checkouts as billing
from billing.queries import audit
from organizations.models import AuditEntry, Organization
from organizations.operations import checkouts
from organizations.rules.roles import Role
from tests.factories.accounts import Caller
from tests.factories.organizations import Team, product
from tests.organizations.test_api import Api, caller
from tests.portal.test_organization_session import Browser
from tests.support.concurrency import at_once, eventually
from tests.support.stripe import FakeStripe

pytestmark = pytest.mark.django_db
race = pytest.mark.django_db(transaction=True)

SCOPES = ("billing:checkout", "wallet:read")
TOP_UP = {"kind": "top_up", "amountMicros": 5_000_000, "idempotencyKey": "one"}
METHOD = {"kind": "payment_method", "idempotencyKey": "one"}


@pytest.fixture
def team(provider: FakeStripe) -> Team:
    return Team()


@pytest.fixture
def api(client: Client) -> Api:
    return Api(client, caller(scopes=SCOPES))


def ask(api: Api, team: Team, body: Any) -> tuple[int, Any]:
    return api("POST", f"/organizations/{team.id}/billing/checkout", body)


def entries(team: Team) -> list[tuple[str, str, Any]]:
    rows = AuditEntry.objects.filter(organization=team.id, action__endswith=".begin").order_by("id")
    return [(row.action, row.subject, row.detail) for row in rows]


def pay(provider: FakeStripe, checkout: Checkout) -> Checkout:
    """Pay, and run the job that finds the payment."""
    provider.pay(str(checkout.session_ref))
    return billing.converge(Checkout.objects.get(pk=checkout.pk), now=timezone.now())


def only(team: Team) -> Checkout:
    return Checkout.objects.get(owner_kind="organization", owner_key=team.id)


def test_a_top_up_becomes_the_organizations_balance(api: Api, team: Team, provider: FakeStripe) -> None:
    status, body = ask(api, team, TOP_UP)
    checkout = only(team)
    [session] = provider.sessions
    assert (status, body) == (201, {"provider": "stripe", "transactionId": checkout.id, "url": session["url"]})
    assert checkout.requested_by == team.owner.did
    assert pay(provider, checkout).status == "paid"
    wallet = api("GET", f"/organizations/{team.id}/billing")[1]["wallet"]
    assert (wallet["balanceMicrousd"], wallet["creditsMicrousd"]) == (5_000_000, 0)
    assert audit.findings() == []


def test_for_a_product_it_becomes_a_credit_that_does_not_expire(api: Api, team: Team, provider: FakeStripe) -> None:
    product()
    assert ask(api, team, {**TOP_UP, "product": "studio"})[0] == 201
    pay(provider, only(team))
    lot = CreditLot.objects.get()
    assert (lot.product, lot.granted_microusd, lot.expires_at, lot.source_key) == (
        "studio",
        5_000_000,
        None,
        only(team).id,
    )
    assert audit.findings() == []


def test_a_null_product_is_none(api: Api, team: Team) -> None:
    first = ask(api, team, {**TOP_UP, "product": None})
    assert first == ask(api, team, TOP_UP)


def test_a_product_outside_the_catalogue_is_not_found(api: Api, team: Team, provider: FakeStripe) -> None:
    status, body = ask(api, team, {**TOP_UP, "product": "nowhere"})
    assert (status, body["error"]["code"], body["error"]["param"]) == (404, "not_found", "product")
    assert (Checkout.objects.count(), provider.requests, entries(team)) == (0, [], [])


def test_a_payment_method_is_saved_without_a_charge(api: Api, team: Team, provider: FakeStripe) -> None:
    status, body = ask(api, team, METHOD)
    [session] = provider.sessions
    assert (status, body["url"]) == (201, session["url"])
    assert (session["mode"], session["amount_total"], session["client_reference_id"]) == (
        "setup",
        None,
        body["transactionId"],
    )
    done = pay(provider, only(team))
    assert (done.status, done.paid_at, done.next_check_at) == ("completed", None, None)
    assert str(done.customer_ref).startswith("cus_")
    wallet = api("GET", f"/organizations/{team.id}/billing")[1]["wallet"]
    assert wallet["balanceMicrousd"] == 0
    assert audit.findings() == []


def test_the_same_request_is_one_transaction_and_one_entry(api: Api, team: Team, provider: FakeStripe) -> None:
    first, version = ask(api, team, TOP_UP), team.organization.version
    assert ask(api, team, TOP_UP) == first
    assert len(provider.sessions) == 1
    assert team.organization.version == version
    assert entries(team) == [
        ("top_up.begin", first[1]["transactionId"], {"amountMicrousd": 5_000_000, "product": None})
    ]


def test_a_payment_method_is_logged(api: Api, team: Team) -> None:
    _, body = ask(api, team, METHOD)
    assert entries(team) == [("payment_method.begin", body["transactionId"], {})]


@pytest.mark.parametrize(
    "change", [{"amountMicros": 6_000_000}, {"product": "studio"}, {"kind": "payment_method", "amountMicros": None}]
)
def test_another_request_under_the_same_key_is_refused(
    api: Api, team: Team, provider: FakeStripe, change: dict[str, Any]
) -> None:
    product()
    ask(api, team, TOP_UP)
    status, body = ask(api, team, {**TOP_UP, **change} if "kind" not in change else METHOD)
    assert (status, body["error"]["code"]) == (422, "idempotency_key_reused")
    assert (Checkout.objects.count(), len(provider.sessions), len(entries(team))) == (1, 1, 1)


@pytest.mark.parametrize(
    ("change", "param"),
    [
        ({"kind": None}, "kind"),
        ({"kind": "gift"}, "kind"),
        ({"amountMicros": None}, "amountMicros"),
        ({"amountMicros": 5_000_001}, "amountMicros"),
        ({"amountMicros": "5000000"}, "amountMicros"),
        ({"product": ""}, "product"),
        ({"product": 7}, "product"),
        ({"idempotencyKey": "naïve"}, "idempotencyKey"),
        ({"orgId": "org_other"}, "orgId"),
    ],
)
def test_a_bad_body_is_named(api: Api, team: Team, provider: FakeStripe, change: dict[str, Any], param: str) -> None:
    status, body = ask(api, team, {**TOP_UP, **change})
    assert (status, body["error"]["code"], body["error"]["param"]) == (400, "invalid_request", param)
    assert (Checkout.objects.count(), provider.requests) == (0, [])


@pytest.mark.parametrize("role", list(Role))
def test_owners_and_billing_members_may(client: Client, team: Team, provider: FakeStripe, role: Role) -> None:
    team.join("bob", role)
    status, body = ask(Api(client, caller("bob", SCOPES)), team, TOP_UP)
    if role in (Role.OWNER, Role.BILLING):
        assert (status, only(team).requested_by) == (201, "did:web:studio.example:bob")
    else:
        assert (status, body["error"]["code"]) == (403, "forbidden")
        assert (Checkout.objects.count(), provider.requests) == (0, [])


def test_a_strangers_organization_looks_like_none(client: Client, team: Team, provider: FakeStripe) -> None:
    stranger = Api(client, caller("mallory", SCOPES))
    answers = [ask(stranger, team, TOP_UP), stranger("POST", "/organizations/org_none/billing/checkout", TOP_UP)]
    assert [(status, body["error"]["code"]) for status, body in answers] == [(403, "not_member")] * 2
    assert (Checkout.objects.count(), provider.requests) == (0, [])


def test_a_provider_that_fails_leaves_a_transaction_that_can_be_repeated(
    api: Api, team: Team, provider: FakeStripe
) -> None:
    provider.script("drop-answer", path="/v1/checkout/sessions", times=2)
    status, body = ask(api, team, TOP_UP)
    assert (status, body["error"]["code"]) == (503, "integration_unavailable")
    checkout = only(team)
    assert (checkout.status, len(entries(team))) == ("creating", 1)
    status, body = ask(api, team, TOP_UP)
    assert (status, body["transactionId"]) == (201, checkout.id)
    assert (len(provider.sessions), len(entries(team))) == (1, 1)


class TestOrganizationTokens:
    """POST /v1/billing/checkout with an organization's token pays into its wallet."""

    def test_pays_into_the_organizations_wallet(self, client: Client, team: Team, provider: FakeStripe) -> None:
        api = Api(client, self.caller(team, "olivia"))
        status, body = api("POST", "/billing/checkout", {"amountMicros": 5_000_000, "idempotencyKey": "one"})
        assert (status, body["transactionId"]) == (201, only(team).id)
        pay(provider, only(team))
        assert api("GET", "/wallet")[1]["balanceMicrousd"] == 5_000_000
        assert audit.findings() == []

    @pytest.mark.parametrize("role", [Role.ADMIN, Role.MEMBER])
    def test_other_roles_may_not(self, client: Client, team: Team, role: Role) -> None:
        team.join("bob", role)
        api = Api(client, self.caller(team, "bob"))
        status, body = api("POST", "/billing/checkout", {"amountMicros": 5_000_000, "idempotencyKey": "one"})
        assert (status, body["error"]["code"]) == (403, "forbidden")
        assert not Checkout.objects.exists()

    def caller(self, team: Team, name: str) -> Caller:
        return caller(name, SCOPES, org_id=team.id, membership_id=team[name].id)


def test_the_portals_session_does_the_same(provider: FakeStripe) -> None:
    alice = Browser()
    _, founded = alice("POST", "/api/organizations", {"name": "Acme"})
    path = f"/api/organizations/{founded['orgId']}/billing/checkout"
    status, body = alice("POST", path, TOP_UP)
    [session] = provider.sessions
    assert (status, body) == (
        201,
        {"provider": "stripe", "transactionId": session["client_reference_id"], "url": session["url"]},
    )
    status, body = alice("POST", path, {**TOP_UP, "idempotencyKey": "two"}, **{"X-CSRFToken": "a" * 64})
    assert (status, body["error"]["code"]) == (403, "forbidden")
    assert len(provider.sessions) == 1


@race
def test_two_at_once_are_one_transaction(team: Team, provider: FakeStripe) -> None:
    terms: dict[str, Any] = {"kind": "top_up", "amount_microusd": 5_000_000, "product": None, "idempotency_key": "one"}
    calls = [lambda: checkouts.begin(org_id=team.id, **terms, actor_did=team.owner.did).id] * 4
    assert set(at_once(*calls)) <= {only(team).id, "integration_unavailable"}
    assert (len(provider.sessions), len(entries(team))) == (1, 1)


@race
def test_nothing_is_locked_during_the_providers_request(team: Team, provider: FakeStripe) -> None:
    terms: dict[str, Any] = {"kind": "top_up", "amount_microusd": 5_000_000, "product": None, "idempotency_key": "one"}

    def begin() -> None:
        try:
            checkouts.begin(org_id=team.id, **terms, actor_did=team.owner.did)
        finally:
            connection.close()

    beginning = threading.Thread(target=begin)
    with provider.store.lock:  # without which the provider does not answer
        beginning.start()
        eventually(lambda: provider.requests or not beginning.is_alive())
        assert beginning.is_alive()
        with transaction.atomic():
            Organization.objects.select_for_update(nowait=True).get(pk=team.id)
            checkout = Checkout.objects.select_for_update(nowait=True).get(owner_key=team.id)
            assert checkout.status == "creating"
    beginning.join()
    assert only(team).status == "open"
