"""`GET /v1/account/budgets`."""

from datetime import UTC, datetime, timedelta
from itertools import product as every
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from billing.models import Budget
from billing.operations import budgets
from billing.operations.budgets import Override
from billing.rules.budgets import BudgetPeriod, Subject, period_around
from gateway.core.api.times import rfc3339
from organizations.operations import members, seats
from tests.contract.document import answer_schema, operation_at, validate
from tests.factories.accounts import Caller, make_caller
from tests.factories.billing import Purse, settle
from tests.factories.organizations import Team, account
from tests.factories.proofs import Signer, mint_token

PATH = "/v1/account/budgets"
APP = "https://app.example"
OTHER = "https://other.example"

pytestmark = pytest.mark.django_db


@pytest.fixture
def caller() -> Caller:
    """A person in an app that may look at usage."""
    return make_caller("usage:read", client_id=APP)


def asked(client: Client, caller: Caller, query: str = "") -> Any:
    return client.get(PATH + query, headers=caller.headers("GET", PATH))


def listed(client: Client, caller: Caller) -> list[dict[str, Any]]:
    response = asked(client, caller)
    assert response.status_code == 200, response.content
    assert response["Cache-Control"] == "no-store"
    body = response.json()
    assert list(body) == ["data"]
    validate(body, answer_schema(operation_at("GET", PATH), 200))
    return body["data"]


def put(caller: Caller, app: str | None = None, limit: int = 1000, **terms: Any) -> Budget:
    return budgets.put(Subject(("account", caller.account.did), client_id=app), limit_microusd=limit, **terms)


def test_is_empty_without_budgets(client: Client, caller: Caller) -> None:
    assert listed(client, caller) == []


@pytest.mark.parametrize("period", list(BudgetPeriod))
def test_shows_a_budget_with_what_it_counts(client: Client, caller: Caller, period: BudgetPeriod) -> None:
    purse, now = Purse("account", caller.account.did).pay(1000), timezone.now()
    budget = put(caller, APP, period=period)
    settle(purse.call(300, client_id=APP), 250)
    purse.call(500, client_id=APP)
    purse.call(100, client_id=OTHER)
    start, end = period_around(period, now)
    assert listed(client, caller) == [
        {
            "budgetId": budget.id,
            "scope": "client",
            "product": None,
            "membershipId": None,
            "clientId": APP,
            "limitMicrousd": 1000,
            "spentMicrousd": 250,
            "heldMicrousd": 500,
            "period": period.value,
            "periodStart": rfc3339(start),
            "periodEnd": rfc3339(end),
            "override": None,
            "status": "active",
        }
    ]


def test_shows_an_override_until_it_ends(client: Client, caller: Caller) -> None:
    now = timezone.now()
    budget = put(caller, override=Override(5, now + timedelta(hours=1)))
    [shown] = listed(client, caller)
    assert budget.override_until is not None
    assert (shown["limitMicrousd"], shown["override"]) == (
        1000,
        {"limitMicrousd": 5, "until": rfc3339(budget.override_until)},
    )
    Budget.objects.filter(pk=budget.pk).update(override_until=now - timedelta(seconds=1))
    assert listed(client, caller)[0]["override"] is None


def test_a_period_that_has_ended_counts_nothing(client: Client, caller: Caller) -> None:
    budget = put(caller, now=datetime(2026, 1, 31, tzinfo=UTC))
    Budget.objects.filter(pk=budget.pk).update(spent_microusd=7)
    assert listed(client, caller)[0]["spentMicrousd"] == 0


def test_lists_the_total_and_its_own_apps_newest_first_and_no_disabled_one(client: Client, caller: Caller) -> None:
    total, own = put(caller), put(caller, APP, period=BudgetPeriod.DAY)
    put(caller, OTHER)
    off = put(caller, APP, period=BudgetPeriod.WEEK)
    budgets.disable(("account", caller.account.did), off.id, now=timezone.now())
    assert [one["budgetId"] for one in listed(client, caller)] == [own.id, total.id]


def test_lists_nobody_elses(client: Client, caller: Caller) -> None:
    put(make_caller("usage:read", name="bob"), APP)
    assert listed(client, caller) == []


def test_a_product_servers_token_is_bound_by_the_total(client: Client) -> None:
    caller = make_caller("usage:read", product="studio")
    total = put(caller)
    put(caller, APP)
    assert [one["budgetId"] for one in listed(client, caller)] == [total.id]


def test_a_product_server_of_the_apps_own_origin_is_the_app(client: Client) -> None:
    caller = make_caller("usage:read", product="studio", client_id=APP)
    app = put(caller, APP)
    assert [one["budgetId"] for one in listed(client, caller)] == [app.id]


def test_lists_exactly_those_that_refuse_a_call_of_a_person(client: Client, caller: Caller) -> None:
    purse = Purse("account", caller.account.did).pay(1000)
    put(caller), put(caller, APP), put(caller, OTHER)
    assert {one["budgetId"] for one in listed(client, caller)} == refusing(purse, client_id=APP)


@pytest.mark.parametrize("slug", ["studio", None])
def test_lists_exactly_those_that_refuse_a_call_of_a_member(client: Client, slug: str | None) -> None:
    team = Team()
    bob, dora = team.join("bob"), team.join("dora")
    for enabled in ("studio", "courier"):
        team.enable(enabled)
    seats.assign(org_id=team.id, product="studio", membership_id=bob.id, actor_did=team.owner.did)
    owner = ("organization", team.id)
    for product, member in every((None, "studio", "courier"), (None, bob.id, dora.id)):
        budgets.put(Subject(owner, product, member), limit_microusd=1000)
    put(make_caller("usage:read", name="did:web:studio.example:someone"))
    put(Caller(account("bob"), ("usage:read",)))
    signer = Signer()
    token = mint_token(
        account("bob").did, ("usage:read",), signer, client_id=APP, org_id=team.id, membership_id=bob.id, product=slug
    )
    found = {one["budgetId"] for one in listed(client, Caller(account("bob"), ("usage:read",), signer, token))}
    purse = Purse("organization", team.id).pay(1000)
    assert found == refusing(purse, product=slug, membership_id=bob.id, client_id=APP)
    assert len(found) == (4 if slug else 2)


def test_a_removed_member_sees_nothing(client: Client) -> None:
    team = Team()
    bob = team.join("bob")
    budgets.put(Subject(("organization", team.id)), limit_microusd=1000)
    signer = Signer()
    token = mint_token(account("bob").did, ("usage:read",), signer, org_id=team.id, membership_id=bob.id)
    caller = Caller(account("bob"), ("usage:read",), signer, token)
    assert len(listed(client, caller)) == 1
    members.remove(org_id=team.id, membership_id=bob.id, actor_did=team.owner.did)
    response = client.get(PATH, headers=caller.headers("GET", PATH))
    assert (response.status_code, response.json()["error"]["code"]) == (403, "not_member")


def refusing(purse: Purse, **call: Any) -> set[str]:
    """Return the budgets that refuse a call by lowering each limit on its own."""
    found = set()
    for budget in Budget.objects.filter(wallet__owner_key=purse.key):
        Budget.objects.filter(pk=budget.pk).update(limit_microusd=0)
        held = purse.reserve(1, is_trial=True, **call)
        if held.outcome == "budget_exceeded":
            assert held.budget_id
            found.add(held.budget_id)
        Budget.objects.filter(pk=budget.pk).update(limit_microusd=1000)
    return found


@pytest.mark.parametrize("method", ["post", "put", "patch", "delete"])
def test_no_token_changes_them(client: Client, method: str) -> None:
    caller = make_caller("usage:read", "budgets:manage", client_id=APP)
    put(caller)
    response = getattr(client, method)(PATH, headers=caller.headers(method.upper(), PATH))
    assert (response.status_code, response.json()["error"]["code"]) == (405, "method_not_allowed")
    assert "GET" in response["Allow"]


def test_takes_a_limit(client: Client, caller: Caller) -> None:
    put(caller), put(caller, APP)
    every, newest = listed(client, caller), asked(client, caller, "?limit=1")
    assert (len(every), newest.json()["data"]) == (2, every[:1])
    for limit in ("0", "101", "x", ""):
        answer = asked(client, caller, f"?limit={limit}")
        error = answer.json()["error"]
        assert (answer.status_code, error["code"], error["param"]) == (400, "invalid_request", "limit")


def test_asks_the_database_a_fixed_number_of_times(
    client: Client, caller: Caller, django_assert_max_num_queries: Any
) -> None:
    for period in BudgetPeriod:
        put(caller, period=period), put(caller, APP, period=period)
    with django_assert_max_num_queries(4):
        assert len(listed(client, caller)) == 6


def test_needs_its_scope(client: Client) -> None:
    caller = make_caller("wallet:read")
    response = client.get(PATH, headers=caller.headers("GET", PATH))
    assert (response.status_code, response.json()["error"]["code"]) == (403, "insufficient_scope")


def test_needs_a_token(client: Client) -> None:
    assert client.get(PATH).status_code == 401
