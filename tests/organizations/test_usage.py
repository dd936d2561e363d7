"""The usage summary of an organization over HTTP: whole bodies and exact money."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from billing.models import Call
from billing.rules.months import month_around, month_before
from gateway.core.contract import limits
from tests.factories.billing import Purse, release, settle
from tests.factories.organizations import Team
from tests.organizations.test_api import Api, caller
from tests.support.unguarded import unguarded

pytestmark = pytest.mark.django_db

USED = {"input_tokens": 10, "output_tokens": 5}


@pytest.fixture
def team() -> Team:
    return Team()


@pytest.fixture
def api(client: Client) -> Api:
    return Api(client, caller(scopes=("usage:read",)))


@pytest.fixture
def purse(team: Team) -> Purse:
    return Purse("organization", team.id).pay(1_000_000)


def row(
    requests: int = 0, read: int = 0, written: int = 0, charged: int = 0, held: int = 0, **subject: Any
) -> dict[str, Any]:
    return {
        **subject,
        "requests": requests,
        "inputTokens": read,
        "outputTokens": written,
        "chargedMicrousd": charged,
        "heldMicrousd": held,
    }


class TestUsage:
    """GET …/usage."""

    def summary(self, api: Api, team: Team, month: str = "") -> Any:
        status, body = api("GET", f"/organizations/{team.id}/usage{month}")
        assert status == 200, body
        return body

    def test_sums_by_product_and_member(self, api: Api, team: Team, purse: Purse) -> None:
        settle(purse.call(100, product="studio", membership_id="mem_1"), 30, quantities=USED)
        settle(purse.call(100, product="studio", membership_id="mem_2"), 20, quantities=USED)
        settle(purse.call(100, membership_id="mem_1"), 7, quantities=USED)
        purse.call(60, product="studio", membership_id="mem_2")
        release(purse.call(90, product="studio", membership_id="mem_2"))
        start, end = month_around(timezone.now())
        assert self.summary(api, team) == {
            "orgId": team.id,
            "month": f"{start:%Y-%m}",
            "periodStart": f"{start:%Y-%m-%d}T00:00:00Z",
            "periodEnd": f"{end:%Y-%m-%d}T00:00:00Z",
            "products": [row(3, 20, 10, 50, 60, product="studio"), row(1, 10, 5, 7, 0, product=None)],
            "members": [row(2, 20, 10, 37, 0, membershipId="mem_1"), row(2, 10, 5, 20, 60, membershipId="mem_2")],
            "totals": row(4, 30, 15, 57, 60),
        }

    def test_credits_and_balance_that_paid_one_call_are_one_charge(self, api: Api, team: Team, purse: Purse) -> None:
        purse.grant(10)
        settle(purse.call(100, membership_id="mem_1"), 30, quantities=USED)
        assert self.summary(api, team)["totals"] == row(1, 10, 5, 30, 0)

    def test_counts_by_creation_charges_by_settlement_and_holds_as_they_stand(
        self, api: Api, team: Team, purse: Purse
    ) -> None:
        call = purse.call(100)
        start, _ = month_before(timezone.now())
        with unguarded():
            Call.objects.filter(pk=call).update(created_at=start + timedelta(days=27, hours=23))
        assert self.summary(api, team)["totals"] == row(held=100)
        settle(call, 30, quantities=USED)
        assert self.summary(api, team, "?month=current")["totals"] == row(charged=30)
        assert self.summary(api, team, "?month=previous")["totals"] == row(1, 10, 5, 0, 0)

    def test_another_owners_calls_are_not_in_it(self, api: Api, team: Team, purse: Purse) -> None:
        settle(Purse().pay(100).call(50), 20)
        settle(Purse("organization", Team("oscar", "Other").id).pay(100).call(50), 20)
        assert self.summary(api, team)["totals"] == row()

    def test_an_unknown_month_is_named(self, api: Api, team: Team) -> None:
        status, body = api("GET", f"/organizations/{team.id}/usage?month=2026-11")
        assert (status, body["error"]["code"], body["error"]["param"]) == (400, "invalid_request", "month")

    @pytest.mark.parametrize("limit", ["REPORT_CALLS_MAX", "REPORT_CHARGES_MAX", "REPORT_HOLDS_MAX"])
    def test_too_much_history_is_refused_whole(
        self, api: Api, team: Team, purse: Purse, limit: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(f"billing.queries.reports.{limit}", 2)
        for number in range(3):
            assert self.summary(api, team)["totals"]["requests"] == number
            call = purse.call(10)
            if limit != "REPORT_HOLDS_MAX":
                settle(call, 5)
        status, body = api("GET", f"/organizations/{team.id}/usage")
        assert (status, body["error"]["code"]) == (422, "org_report_limit")

    def test_the_limits_are_the_specifications(self) -> None:
        assert (limits.REPORT_CALLS_MAX, limits.REPORT_CHARGES_MAX, limits.REPORT_HOLDS_MAX) == (10_000, 20_000, 10_000)


@pytest.mark.parametrize(
    ("moment", "current", "previous"),
    [
        (datetime(2026, 1, 1, tzinfo=UTC), (2026, 1), (2025, 12)),
        (datetime(2026, 12, 31, 23, 59, 59, 999_999, UTC), (2026, 12), (2026, 11)),
        (datetime(2028, 3, 1, tzinfo=UTC), (2028, 3), (2028, 2)),
    ],
)
def test_months_join_without_a_gap(moment: datetime, current: tuple[int, int], previous: tuple[int, int]) -> None:
    start, end = month_around(moment)
    assert start <= moment < end
    assert (start.year, start.month) == current
    assert month_before(moment) == (datetime(*previous, 1, tzinfo=UTC), start)
