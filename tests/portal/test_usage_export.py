"""The CSV files of the usage pages."""

import csv
import io
from typing import Any, cast

import pytest
from asgiref.sync import async_to_sync
from django.test import Client
from pytest_django import DjangoAssertNumQueries

from accounts.models import Account
from billing.queries import usage_csv
from billing.rules.months import name_of
from organizations.rules.roles import Role
from tests.factories.billing import Purse, release, settle
from tests.factories.organizations import account
from tests.portal.organization_browser import FRAME_QUERIES_MAX, OrganizationPages
from tests.portal.test_wallet import text_of
from tests.portal.usage_pages import TICK, Months, exact_amounts, used

pytestmark = pytest.mark.django_db


def csv_of(answer: Any) -> list[dict[str, str]]:
    """Read an export."""

    async def body() -> bytes:
        return b"".join([piece async for piece in cast("Any", answer.streaming_content)])

    assert answer.status_code == 200
    return list(csv.DictReader(io.StringIO(async_to_sync(body)().decode(), newline="")))


class TestExport:
    """The CSV files of both pages."""

    def test_has_every_call_with_its_charge(
        self, organization_pages: OrganizationPages, purse: Purse, months: Months
    ) -> None:
        charged = used(
            purse, 1_500_250, months.last[0], product="studio", membership_id=organization_pages.member("member")
        )
        given_back = purse.call(60, now=months.last[0] + TICK)
        release(given_back, resolution="rejected", now=months.last[0] + 2 * TICK)
        late = purse.call(500, now=months.last[0] - TICK)
        settle(late, 40, now=months.last[0])
        used(purse, 999, months.this[0])
        answer = organization_pages["billing"].get(
            organization_pages.path("usage.csv"), {"month": name_of(months.last)}
        )
        assert answer["Content-Type"] == "text/csv; charset=utf-8; header=present"
        assert answer["Content-Disposition"] == f'attachment; filename="usage-acme-{name_of(months.last)}.csv"'
        rows = csv_of(answer)
        assert [row["usage_id"] for row in rows] == [late, charged, given_back]
        assert rows[1] == {
            **dict.fromkeys(usage_csv.HEADER, ""),
            "usage_id": charged,
            "status": "settled",
            "outcome": "Charged for the usage that the provider reported.",
            "begun_at": f"{name_of(months.last)}-01T00:00:00Z",
            "closed_at": f"{name_of(months.last)}-01T00:00:00Z",
            "route": "chat.completions",
            "model": "fast",
            "product": "studio",
            "member": "Member",
            "membership_id": organization_pages.member("member"),
            "did": "did:web:studio.example:alice",
            "input_tokens": "10001666",
            "output_tokens": "0",
            "max_cost_microusd": "2000000",
            "charged_microusd": "1500250",
            "charged_usd": "1.500250",
            "charged_in_month_microusd": "1500250",
        }
        assert (rows[0]["charged_in_month_microusd"], rows[0]["begun_at"][:7]) == ("40", name_of(months.before))
        shown = (rows[2]["status"], rows[2]["outcome"], rows[2]["charged_usd"])
        assert shown == ("released", "The model provider refused the request.", "0.000000")

    def test_adds_up_to_the_page(self, organization_pages: OrganizationPages, purse: Purse, months: Months) -> None:
        for number in range(7):
            used(purse, 3 * number + 1, months.last[0] + number * TICK)
        rows = csv_of(
            organization_pages["owner"].get(organization_pages.path("usage.csv"), {"month": name_of(months.last)})
        )
        assert sum(int(row["charged_in_month_microusd"]) for row in rows) == 70
        page = organization_pages["owner"].get(organization_pages.path("usage"), {"month": name_of(months.last)})
        assert "Charged <$0.01 Calls 7" in text_of(page)
        assert exact_amounts(page) == ["$0.00007"]

    def test_a_name_is_no_formula(self, organization_pages: OrganizationPages, purse: Purse, months: Months) -> None:
        used(purse, 5, months.this[0], membership_id=organization_pages.member("member"))
        for name in ("=1+1", "+1", "-1", "@SUM(A1)", '=HYPERLINK("http://x.example")'):
            Account.objects.filter(pk=account("member").pk).update(display_name=name)
            [row] = csv_of(organization_pages["owner"].get(organization_pages.path("usage.csv")))
            assert row["member"] == f"'{name}"
        Account.objects.filter(pk=account("member").pk).update(display_name="\t=1")
        [row] = csv_of(organization_pages["owner"].get(organization_pages.path("usage.csv")))
        assert row["member"] == "'\t'=1", "the part after the tab may become a cell"

    def test_a_persons_own(self, alice: Client, own: Purse, months: Months) -> None:
        made = used(own, 5, months.this[0])
        used(Purse("account", account("bob").did).pay(10_000_000), 7, months.this[0])
        answer = alice.get("/wallet/usage.csv")
        assert answer["Content-Disposition"] == f'attachment; filename="usage-alice-{name_of(months.this)}.csv"'
        [row] = csv_of(answer)
        assert (row["usage_id"], row["member"], row["charged_usd"]) == (made, "", "0.000005")

    def test_names_are_looked_up_for_many_rows_at_once(
        self,
        organization_pages: OrganizationPages,
        purse: Purse,
        django_assert_max_num_queries: DjangoAssertNumQueries,
        months: Months,
    ) -> None:
        people = [organization_pages.member(role.value) for role in Role]
        for number in range(60):
            used(purse, number, months.this[0] + number * TICK, membership_id=people[number % 4])
        with django_assert_max_num_queries(FRAME_QUERIES_MAX + 8):
            rows = csv_of(organization_pages["owner"].get(organization_pages.path("usage.csv")))
        assert [row["member"] for row in rows[:4]] == ["Owner", "Admin", "Billing", "Member"]
        assert len(rows) == 60

    def test_of_an_owner_without_calls_is_a_header(self, organization_pages: OrganizationPages) -> None:
        assert csv_of(organization_pages["owner"].get(organization_pages.path("usage.csv"))) == []
