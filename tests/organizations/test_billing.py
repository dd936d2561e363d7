"""Budgets, the billing view and payments over HTTP: whole bodies and exact money."""

from datetime import datetime
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.utils import timezone
from pytest_django import DjangoAssertNumQueries

from billing.models import Budget
from billing.rules.budgets import period_around
from billing.rules.months import month_before
from gateway.core.api.times import rfc3339
from gateway.core.contract import limits
from organizations.models import AuditEntry, Entitlement, EntitlementInterval, Seat, SeatInterval
from organizations.operations import members, seats
from organizations.rules.seat_billing import days_of_month
from tests.factories.billing import Purse, settle
from tests.factories.organizations import Team, product
from tests.organizations.test_api import Api, caller
from tests.support.concurrency import at_once
from tests.support.midnight import away_from_midnight  # noqa: F401
from tests.support.unguarded import unguarded

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("away_from_midnight")]

SCOPES = ("wallet:read", "usage:read", "budgets:manage", "billing:checkout")
PRICE = 20_000_000


@pytest.fixture
def team() -> Team:
    return Team()


@pytest.fixture
def api(client: Client) -> Api:
    return Api(client, caller(scopes=SCOPES))


@pytest.fixture
def purse(team: Team) -> Purse:
    return Purse("organization", team.id).pay(1_000_000)


def put(api: Api, team: Team, scope: str = "org", limit: Any = 500, **subject: Any) -> tuple[int, Any]:
    return api("PUT", f"/organizations/{team.id}/budgets", {"scope": scope, "limitMicrousd": limit, **subject})


def span(period: str) -> dict[str, str]:
    """Return the beginning and the end of the current period, as an answer shows them."""
    begin, end = period_around(period, timezone.now())
    return {"periodStart": rfc3339(begin), "periodEnd": rfc3339(end)}


class TestBudgets:
    """PUT and DELETE …/budgets."""

    @pytest.mark.parametrize("scope", ["org", "product", "member", "member_product"])
    def test_each_scope_is_shown_whole(self, api: Api, team: Team, scope: str) -> None:
        product()
        subject = {"product": "studio"} if "product" in scope else {}
        subject |= {"membershipId": team["olivia"].id} if "member" in scope else {}
        status, budget = put(api, team, scope, **subject)
        assert status == 200
        assert budget.pop("budgetId").startswith("bud_")
        assert budget == {
            "scope": scope,
            "product": subject.get("product"),
            "membershipId": subject.get("membershipId"),
            "limitMicrousd": 500,
            "spentMicrousd": 0,
            "heldMicrousd": 0,
            "period": "month",
            **span("month"),
            "override": None,
            "status": "active",
        }

    @pytest.mark.parametrize("period", ["day", "week", "month"])
    def test_each_period_is_a_budget_of_its_own(self, api: Api, team: Team, purse: Purse, period: str) -> None:
        _, month = put(api, team)
        settle(purse.call(40), 30)
        purse.call(50)
        status, budget = put(api, team, limit=600, period=period)
        assert status == 200
        assert (budget["budgetId"] == month["budgetId"]) == (period == "month")
        amounts = {"limitMicrousd": 600, "spentMicrousd": 30, "heldMicrousd": 50}
        assert budget == {**month, **amounts, "budgetId": budget["budgetId"], "period": period, **span(period)}
        assert put(api, team, limit=700, period=period)[1] == {**budget, "limitMicrousd": 700}
        shown = api("GET", f"/organizations/{team.id}/billing")[1]["budgets"]
        assert [one["period"] for one in shown] == ([period, "month"] if period != "month" else ["month"])

    def test_an_override_is_kept_replaced_and_taken_away(self, api: Api, team: Team, purse: Purse) -> None:
        override = {"limitMicrousd": 5, "until": "2199-12-31T22:30:00.5Z"}
        _, budget = put(api, team, override={**override, "until": "2199-12-31t23:30:00.5+01:00"})
        shown = {"limitMicrousd": 5, "until": "2199-12-31T22:30:00.500000Z"}
        assert (budget["limitMicrousd"], budget["override"]) == (500, shown)
        assert purse.reserve(6).budget_id == budget["budgetId"]
        assert put(api, team, limit=400)[1] == {**budget, "limitMicrousd": 400}
        assert put(api, team, limit=400, override={**override, "limitMicrousd": 0})[1]["override"] == {
            **shown,
            "limitMicrousd": 0,
        }
        assert purse.reserve(1).outcome == "budget_exceeded"
        assert put(api, team, limit=400, override=None)[1]["override"] is None
        assert purse.reserve(6).outcome == "reserved"
        actions = AuditEntry.objects.filter(action__startswith="budget.").order_by("id")
        assert [(entry.action, entry.detail.get("limitMicrousd")) for entry in actions] == [
            *[("budget.set", 500), ("budget.override", 5), ("budget.set", 400), ("budget.override", 0)],
            ("budget.end_override", None),
        ]
        assert actions[1].detail == {"scope": "org", "period": "month", **shown}

    def test_an_override_that_has_ended_is_not_shown(self, api: Api, team: Team) -> None:
        put(api, team, override={"limitMicrousd": 5, "until": "2199-12-31T00:00:00Z"})
        Budget.objects.update(override_until=timezone.now())
        assert put(api, team)[1]["override"] is None

    @pytest.mark.parametrize(
        ("override", "param"),
        [
            (5, "override"),
            ([], "override"),
            ([{"until": "2199-12-31T00:00:00Z"}], "override"),
            ("soon", "override"),
            (True, "override"),
            ({}, "override.limitMicrousd"),
            ({"limitMicrousd": 5}, "override.until"),
            ({"until": "2199-12-31T00:00:00Z"}, "override.limitMicrousd"),
            ({"limitMicrousd": -1, "until": "2199-12-31T00:00:00Z"}, "override.limitMicrousd"),
            ({"limitMicrousd": 10**16, "until": "2199-12-31T00:00:00Z"}, "override.limitMicrousd"),
            ({"limitMicrousd": True, "until": "2199-12-31T00:00:00Z"}, "override.limitMicrousd"),
            ({"limitMicrousd": 5, "until": "2199-12-31T00:00:00Z", "by": "me"}, "override.by"),
            ({"limitMicrousd": 5, "until": "2020-01-01T00:00:00Z"}, "override.until"),
            ({"limitMicrousd": 5, "until": "0001-01-01T00:00:00+14:00"}, "override.until"),
            ({"limitMicrousd": 5, "until": "9999-12-31T23:59:59-14:00"}, "override.until"),
            ({"limitMicrousd": 5, "until": "2199-12-31"}, "override.until"),
            ({"limitMicrousd": 5, "until": "2199-12-31T00:00:00"}, "override.until"),
            ({"limitMicrousd": 5, "until": "2199-13-31T00:00:00Z"}, "override.until"),
            ({"limitMicrousd": 5, "until": "2199-12-31T00:00:60Z"}, "override.until"),
            ({"limitMicrousd": 5, "until": "2199-12-31T00:00:00+25:00"}, "override.until"),
            ({"limitMicrousd": 5, "until": "٢199-12-31T00:00:00Z"}, "override.until"),
            ({"limitMicrousd": 5, "until": 7258118400}, "override.until"),
            ({"limitMicrousd": 5, "until": None}, "override.until"),
            ({"limitMicrousd": 5, "until": ""}, "override.until"),
        ],
    )
    def test_an_override_that_makes_no_sense_is_named(self, api: Api, team: Team, override: Any, param: str) -> None:
        status, answer = put(api, team, override=override)
        assert (status, answer["error"]["code"], answer["error"]["param"]) == (400, "invalid_request", param)
        assert not Budget.objects.exists()

    def test_a_new_limit_replaces_the_old_and_amounts_remain_counted(self, api: Api, team: Team, purse: Purse) -> None:
        settle(purse.call(40), 30)
        purse.call(50)
        _, first = put(api, team)
        _, second = put(api, team, limit=700)
        assert second == {**first, "limitMicrousd": 700}
        assert (second["spentMicrousd"], second["heldMicrousd"]) == (30, 50)

    def test_disabling_keeps_the_holds_and_enabling_keeps_the_count(self, api: Api, team: Team, purse: Purse) -> None:
        _, budget = put(api, team)
        call = purse.call(50)
        path = f"/organizations/{team.id}/budgets/{budget['budgetId']}"
        status, disabled = api("DELETE", path)
        assert (status, disabled) == (200, {**budget, "heldMicrousd": 50, "status": "disabled"})
        assert api("DELETE", path) == (status, disabled)
        settle(call, 45)
        assert put(api, team)[1] == {**budget, "spentMicrousd": 45}

    def test_an_older_month_counts_as_nothing_spent(self, api: Api, team: Team) -> None:
        put(api, team)
        with unguarded():
            Budget.objects.update(spent_microusd=400, period_start=month_before(timezone.now())[0].date())
        assert put(api, team)[1]["spentMicrousd"] == 0

    @pytest.mark.parametrize(
        ("body", "param"),
        [
            ({"scope": "org", "limitMicrousd": -1}, "limitMicrousd"),
            ({"scope": "org", "limitMicrousd": 1.5}, "limitMicrousd"),
            ({"scope": "org", "limitMicrousd": "5"}, "limitMicrousd"),
            ({"scope": "org", "limitMicrousd": 10**16}, "limitMicrousd"),
            ({"scope": "org"}, "limitMicrousd"),
            ({"scope": "team", "limitMicrousd": 1}, "scope"),
            ({"limitMicrousd": 1}, "scope"),
            ({"scope": "org", "limitMicrousd": 1, "product": "studio"}, "product"),
            ({"scope": "product", "limitMicrousd": 1}, "product"),
            ({"scope": "product", "limitMicrousd": 1, "product": "studio", "membershipId": "m"}, "membershipId"),
            ({"scope": "member", "limitMicrousd": 1}, "membershipId"),
            ({"scope": "member_product", "limitMicrousd": 1, "product": "studio"}, "membershipId"),
            ({"scope": "org", "limitMicrousd": 1, "limit": 1}, "limit"),
            ({"scope": "account", "limitMicrousd": 1}, "scope"),
            ({"scope": "client", "limitMicrousd": 1, "clientId": "https://app.example"}, "clientId"),
            ({"scope": "org", "limitMicrousd": 1, "period": "year"}, "period"),
            ({"scope": "org", "limitMicrousd": 1, "period": "Month"}, "period"),
            ({"scope": "org", "limitMicrousd": 1, "period": ""}, "period"),
            ({"scope": "org", "limitMicrousd": 1, "period": None}, "period"),
            ({"scope": "org", "limitMicrousd": 1, "period": ["day"]}, "period"),
            ({"scope": "org", "limitMicrousd": 1, "period": {}}, "period"),
        ],
    )
    def test_a_body_that_makes_no_sense_is_named(self, api: Api, team: Team, body: Any, param: str) -> None:
        status, answer = api("PUT", f"/organizations/{team.id}/budgets", body)
        assert (status, answer["error"]["code"], answer["error"]["param"]) == (400, "invalid_request", param)
        assert not Budget.objects.exists()

    def test_subjects_of_elsewhere_are_not_found(self, api: Api, team: Team) -> None:
        other = Team("oscar", "Other")
        status, body = put(api, team, "product", product="no-such")
        assert (status, body["error"]["code"], body["error"]["param"]) == (404, "not_found", "product")
        status, body = put(api, team, "member", membershipId=other["oscar"].id)
        assert (status, body["error"]["code"], body["error"]["param"]) == (404, "not_found", "membershipId")
        _, theirs = put(Api(api.client, caller("oscar", SCOPES)), other)
        status, body = api("DELETE", f"/organizations/{team.id}/budgets/{theirs['budgetId']}")
        assert (status, body["error"]["code"]) == (404, "not_found")
        assert Budget.objects.get().disabled_at is None

    def test_changes_are_in_the_audit_log_and_repetitions_are_not(self, api: Api, team: Team) -> None:
        for limit in (500, 500, 700):
            put(api, team, limit=limit)
        entries = AuditEntry.objects.filter(action="budget.set").order_by("id")
        assert [entry.detail["limitMicrousd"] for entry in entries] == [500, 700]


class TestBilling:
    """GET …/billing and …/billing/members."""

    def test_is_shown_whole(self, api: Api, team: Team, purse: Purse) -> None:
        lot = purse.grant(400, product="studio")
        purse.call(100)
        _, budget = put(api, team)
        status, body = api("GET", f"/organizations/{team.id}/billing")
        assert status == 200
        assert body == {
            "orgId": team.id,
            "wallet": {
                "currency": "USD",
                "balanceMicrousd": 1_000_000,
                "creditsMicrousd": 400,
                "heldMicrousd": 100,
                "availableMicrousd": 1_000_300,
                "debtMicrousd": 0,
            },
            "credits": [
                {
                    "creditId": lot,
                    "product": "studio",
                    "grantedMicrousd": 400,
                    "remainingMicrousd": 400,
                    "expiresAt": None,
                }
            ],
            "budgets": [budget],
            "invoices": [],
            "pastDue": False,
            "seatEstimate": {
                "month": f"{timezone.now():%Y-%m}",
                "accruedMicrousd": 0,
                "projectedMicrousd": 0,
                "products": [],
            },
        }

    def test_estimates_seats_so_far_and_for_the_whole_month(self, api: Api, team: Team) -> None:
        now = timezone.now()
        days = len(days_of_month(now.date()))
        self._enabled_since(team, month_before(now)[0], seats=2)
        body = api("GET", f"/organizations/{team.id}/billing")[1]["seatEstimate"]
        accrued = (2 * 2 * PRICE * now.day + days) // (2 * days)
        assert body == {
            "month": f"{now:%Y-%m}",
            "accruedMicrousd": accrued,
            "projectedMicrousd": 2 * PRICE,
            "products": [
                {
                    "product": "studio",
                    "monthlyPriceMicrousd": PRICE,
                    "assignedSeats": 2,
                    "billableSeats": 2,
                    "accruedMicrousd": accrued,
                    "projectedMicrousd": 2 * PRICE,
                    "externallyBilled": False,
                }
            ],
        }

    def test_a_product_without_seats_is_billed_for_one_and_a_disabled_one_for_none(self, api: Api, team: Team) -> None:
        now = timezone.now()
        entitlement = self._enabled_since(team, month_before(now)[0], seats=0)
        row = api("GET", f"/organizations/{team.id}/billing")[1]["seatEstimate"]["products"][0]
        assert (row["assignedSeats"], row["billableSeats"], row["projectedMicrousd"]) == (0, 1, PRICE)
        Entitlement.objects.update(is_enabled=False)
        entitlement.intervals.update(ended_at=now)
        row = api("GET", f"/organizations/{team.id}/billing")[1]["seatEstimate"]["products"][0]
        assert (row["billableSeats"], row["projectedMicrousd"]) == (0, row["accruedMicrousd"])

    def test_last_months_products_are_not_estimated(self, api: Api, team: Team) -> None:
        start, end = month_before(timezone.now())
        entitlement = self._enabled_since(team, start, seats=0)
        entitlement.intervals.update(ended_at=end)
        assert api("GET", f"/organizations/{team.id}/billing")[1]["seatEstimate"]["products"] == []

    @pytest.mark.parametrize("limit", ["REPORT_INTERVALS_MAX", "REPORT_LOTS_MAX"])
    def test_too_much_history_is_refused_whole(
        self, api: Api, team: Team, purse: Purse, limit: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        assert (limits.REPORT_INTERVALS_MAX, limits.REPORT_LOTS_MAX) == (10_000, 1_000)
        for module in ("billing.queries.reports", "organizations.queries.seat_estimate"):
            monkeypatch.setattr(f"{module}.{limit}", 2, raising=False)
        self._enabled_since(team, month_before(timezone.now())[0], seats=1)
        for _ in range(2):
            purse.grant(10)
        assert api("GET", f"/organizations/{team.id}/billing")[0] == 200
        self._seat(team, "carla", timezone.now())
        purse.grant(10)
        status, body = api("GET", f"/organizations/{team.id}/billing")
        assert (status, body["error"]["code"]) == (422, "org_report_limit")

    def test_members_are_the_subjects_of_budgets_removed_ones_included(self, api: Api, team: Team) -> None:
        bob = team.join("bob")
        members.remove(org_id=team.id, membership_id=bob.id, actor_did=team.owner.did)
        status, body = api("GET", f"/organizations/{team.id}/billing/members")
        assert status == 200
        assert [(row["membershipId"], row["did"], row["displayName"], row["status"]) for row in body["data"]] == [
            (bob.id, "did:web:studio.example:bob", "Bob", "removed"),
            (team["olivia"].id, "did:web:studio.example:olivia", "Olivia", "active"),
        ]

    def test_takes_few_queries(
        self, api: Api, team: Team, purse: Purse, django_assert_max_num_queries: DjangoAssertNumQueries
    ) -> None:
        self._enabled_since(team, month_before(timezone.now())[0], seats=5)
        with django_assert_max_num_queries(13):
            assert api("GET", f"/organizations/{team.id}/billing")[0] == 200

    def _enabled_since(self, team: Team, start: datetime, *, seats: int) -> Entitlement:
        product("studio", PRICE)
        entitlement = Entitlement.objects.create(organization_id=team.id, product_id="studio", is_enabled=True)
        EntitlementInterval.objects.create(entitlement=entitlement, started_at=start)
        for number in range(seats):
            self._seat(team, f"sitter{number}", start)
        return entitlement

    def _seat(self, team: Team, name: str, start: datetime) -> None:
        seat = Seat.objects.create(entitlement=Entitlement.objects.get(), membership=team.join(name), assigned_at=start)
        SeatInterval.objects.create(seat=seat, started_at=start)


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("statement", ["wallet__balance_microusd", "assigned_seats"])
def test_the_billing_view_is_of_one_moment(api: Api, team: Team, statement: str) -> None:
    """A concurrent change between its statements does not affect the result."""
    team.enable("studio")
    bob, purse = team.join("bob"), Purse("organization", team.id).pay(1_000_000)
    seats.assign(org_id=team.id, product="studio", membership_id=team["olivia"].id, actor_did=team.owner.did)

    def change() -> None:
        purse.grant(10)
        seats.assign(org_id=team.id, product="studio", membership_id=bob.id, actor_did=team.owner.did)

    def change_first(execute: Any, sql: str, *rest: Any) -> Any:
        if statement in sql:
            at_once(change)
        return execute(sql, *rest)

    def shown() -> tuple[int, int, int]:
        body = api("GET", f"/organizations/{team.id}/billing")[1]
        [studio] = body["seatEstimate"]["products"]
        return len(body["credits"]), studio["assignedSeats"], studio["billableSeats"]

    with connection.execute_wrapper(change_first):
        assert shown() == (0, 1, 1)
    assert shown() == (1, 2, 2)


class TestPayments:
    """Checkout and external mapping without a configured payment provider."""

    @pytest.mark.parametrize(
        ("body", "param"),
        [
            ({"kind": "gift"}, "kind"),
            ({"kind": "top_up", "idempotencyKey": "one"}, "amountMicros"),
            ({"kind": "top_up", "amountMicros": 5_000_001, "idempotencyKey": "one"}, "amountMicros"),
            ({"kind": "top_up", "amountMicros": 990_000, "idempotencyKey": "one"}, "amountMicros"),
            ({"kind": "top_up", "amountMicros": 10_000_010_000, "idempotencyKey": "one"}, "amountMicros"),
            ({"kind": "top_up", "amountMicros": 5_000_000}, "idempotencyKey"),
            ({"kind": "payment_method", "amountMicros": 5_000_000, "idempotencyKey": "one"}, "amountMicros"),
            ({"kind": "payment_method", "product": "studio", "idempotencyKey": "one"}, "product"),
            ({"kind": "payment_method", "idempotencyKey": ""}, "idempotencyKey"),
        ],
    )
    def test_a_bad_checkout_is_named(self, api: Api, team: Team, body: Any, param: str) -> None:
        status, answer = api("POST", f"/organizations/{team.id}/billing/checkout", body)
        assert (status, answer["error"]["param"]) == (400, param)

    def test_a_good_one_says_that_there_is_no_provider(self, api: Api, team: Team) -> None:
        body = {"kind": "payment_method", "idempotencyKey": "one"}
        status, answer = api("POST", f"/organizations/{team.id}/billing/checkout", body)
        assert (status, answer["error"]["code"]) == (503, "integration_unavailable")

    def test_a_bad_mapping_is_named(self, api: Api, team: Team) -> None:
        body = {"product": "studio", "provider": "payments", "externalOrgId": "acct_1", "mode": "demo"}
        status, answer = api("POST", f"/organizations/{team.id}/billing/external-mapping", body)
        assert (status, answer["error"]["param"]) == (400, "mode")
