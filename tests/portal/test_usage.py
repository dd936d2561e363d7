"""The usage pages of people and organizations: a month's figures, tables and calls, the export, and access."""

import re
from datetime import timedelta
from itertools import product

import pytest
from django.test import Client
from django.utils import timezone
from pytest_django import DjangoAssertNumQueries

from accounts.models import Account, Integration
from billing.rules.months import name_of
from organizations.operations import members
from organizations.rules.roles import Role
from tests.factories import invoicing
from tests.factories.billing import Purse
from tests.factories.organizations import Team, account
from tests.portal.organization_browser import FRAME_QUERIES_MAX, OrganizationPages, signed_in
from tests.portal.test_wallet import text_of
from tests.portal.usage_pages import TICK, Months, exact_amounts, tables, used

pytestmark = pytest.mark.django_db


QUERIES_MAX = FRAME_QUERIES_MAX + 24


NO_MONTHS = ["", "2999-01", "1999-01", "2026-13", "now", "' OR 1=1 --", "<script>", "9" * 400, "２０２６-０１"]  # noqa: RUF001


class TestOrganization:
    """/organizations/<org_id>/usage."""

    def test_shows_a_month_by_day_by_product_and_member_and_by_model(
        self, organization_pages: OrganizationPages, purse: Purse, months: Months
    ) -> None:
        member, owner = organization_pages.member("member"), organization_pages.member("owner")
        used(purse, 250, months.last[0], product="studio", membership_id=member)
        used(purse, 100, months.last[1] - TICK, product="studio", membership_id=owner, model="reasoning")
        used(purse, 30, months.last[0])
        used(purse, 999, months.this[0], membership_id=owner)
        used(purse, 888, months.last[0] - TICK)
        answer = organization_pages["billing"].get(organization_pages.path("usage"), {"month": name_of(months.last)})
        words, found = text_of(answer), tables(answer)
        assert f"Usage in {months.last[0]:%B %Y} Month (UTC)" in words
        assert "Charged <$0.01 Calls 3 By day" in words
        assert exact_amounts(answer) == ["$0.00038"]
        total = ["Total", "$0.00038", "3", "2,532", "0"]
        assert found["Use by product and member, highest charge first"] == [
            ["Member", "Product", "Charged", "Calls", "Input tokens", "Output tokens"],
            ["Member", "Studio", "$0.00025", "1", "1,666", "0"],
            ["Owner", "Studio", "$0.00010", "1", "666", "0"],
            ["No member", "No product", "$0.00003", "1", "200", "0"],
            total,
        ]
        assert found["Use by model, highest charge first"][1:] == [
            ["fast", "$0.00028", "2", "1,866", "0"],
            ["reasoning", "$0.00010", "1", "666", "0"],
            total,
        ]
        days = found["Use by day"][1:-1]
        assert len(days) == (months.last[1] - months.last[0]).days
        assert [day[1:3] for day in (days[0], days[-1])] == [["$0.00028", "2"], ["$0.00010", "1"]]
        assert {tuple(day[1:]) for day in days[1:-1]} == {("$0.00000", "0", "0", "0")}

    def test_shows_the_current_month_up_to_today(
        self, organization_pages: OrganizationPages, purse: Purse, months: Months
    ) -> None:
        used(purse, 5, months.this[0])
        purse.call(70)
        answer = organization_pages["owner"].get(organization_pages.path("usage"))
        days = tables(answer)["Use by day"][1:-1]
        today = timezone.now()
        assert len(days) in (today.day, (today - timedelta(minutes=1)).day)
        assert "Charged <$0.01 Calls 2 Held now by open calls <$0.01" in text_of(answer)
        assert exact_amounts(answer) == ["$0.000005", "$0.00007"]

    def test_offers_the_months_since_the_first_call(
        self, organization_pages: OrganizationPages, purse: Purse, months: Months
    ) -> None:
        offered = re.compile(r'<option value="([^"]*)"')
        assert offered.findall(organization_pages.get("owner", "usage")) == [name_of(months.this)]
        used(purse, 5, months.before[1] - TICK)
        assert offered.findall(organization_pages.get("owner", "usage")) == [name_of(month) for month in months]
        page = (
            organization_pages["owner"]
            .get(organization_pages.path("usage"), {"month": name_of(months.last)})
            .content.decode()
        )
        assert f'<option value="{name_of(months.last)}" selected>' in page
        assert "No calls were made in this month." in page
        assert "charts.js" not in page

    def test_an_unavailable_month_is_reported(
        self, organization_pages: OrganizationPages, purse: Purse, months: Months
    ) -> None:
        used(purse, 5, months.this[0])
        for month in NO_MONTHS:
            answer = organization_pages["owner"].get(organization_pages.path("usage"), {"month": month})
            assert answer.status_code == 404, month
            assert "There is no usage for that month. Choose one of the months above." in text_of(answer)
            assert "$" not in text_of(answer)
            assert b"<script>" not in answer.content
            assert (
                organization_pages["owner"].get(organization_pages.path("usage.csv"), {"month": month}).status_code
                == 404
            )

    def test_strangers_cannot_learn_which_months_were_used(
        self, organization_pages: OrganizationPages, purse: Purse, months: Months
    ) -> None:
        used(purse, 5, months.last[0])
        other = Team("oscar")
        theirs = f"/organizations/{other.id}/usage"
        assert signed_in(account("oscar")).get(theirs, {"month": name_of(months.last)}).status_code == 404
        assert "$0.000005" not in text_of(signed_in(account("oscar")).get(theirs))

    def test_is_for_those_who_manage_money(self, organization_pages: OrganizationPages) -> None:
        for role, path in product(Role, (organization_pages.path("usage"), organization_pages.path("usage.csv"))):
            answer = organization_pages[role].get(path)
            assert answer.status_code == (200 if role in (Role.OWNER, Role.BILLING) else 403), (role, path)
            assert "no-store" in answer["Cache-Control"]
            assert "private" in answer["Cache-Control"]

    def test_strangers_and_removed_members_find_nothing(self, organization_pages: OrganizationPages) -> None:
        members.remove(
            org_id=organization_pages.team.id,
            membership_id=organization_pages.member("billing"),
            actor_did=organization_pages.team.owner.did,
        )
        for path in (organization_pages.path("usage"), organization_pages.path("usage.csv")):
            for client in (signed_in(account("stranger")), organization_pages["billing"]):
                assert client.get(path).status_code == 404
            answer = Client().get(path)
            assert (answer.status_code, answer["Location"]) == (302, f"/account/login/?next={path}")

    def test_the_seats_of_a_month_that_is_over_are_on_its_invoice(
        self, organization_pages: OrganizationPages, purse: Purse, months: Months
    ) -> None:
        used(purse, 5, months.last[0])
        path = {"month": name_of(months.last)}
        assert "There is no invoice for the seats of this month." in text_of(
            organization_pages["owner"].get(organization_pages.path("usage"), path)
        )
        invoice = invoicing.paid(organization_pages.team.id)
        answer = organization_pages["owner"].get(organization_pages.path("usage"), path)
        assert f"The seats of this month are on invoice {invoice.number} of $20.00. Paid" in text_of(answer)
        assert f'href="{organization_pages.path("invoices", invoice.pk)}"' in answer.content.decode()
        assert organization_pages["owner"].get(organization_pages.path("invoices", invoice.pk)).status_code == 200

    def test_asks_the_database_as_often_however_much_there_is(
        self,
        organization_pages: OrganizationPages,
        purse: Purse,
        django_assert_max_num_queries: DjangoAssertNumQueries,
        months: Months,
    ) -> None:
        people = [organization_pages.member(role.value) for role in Role]
        for number in range(40):
            about = {"product": ("studio", "courier", None)[number % 3], "membership_id": people[number % 4]}
            used(purse, number, months.last[0] + number * TICK, model=f"model-{number}", **about)
        for month in (months.this, months.last):
            with django_assert_max_num_queries(QUERIES_MAX):
                organization_pages["owner"].get(organization_pages.path("usage"), {"month": name_of(month)})

    def test_names_are_texts_and_nothing_else(
        self, organization_pages: OrganizationPages, purse: Purse, months: Months
    ) -> None:
        hostile = '"><script>alert(1)</script>'
        Account.objects.filter(pk=account("member").pk).update(display_name=hostile)
        used(
            purse, 5, months.this[0], membership_id=organization_pages.member("member"), model=hostile, product=hostile
        )
        answer = organization_pages["owner"].get(organization_pages.path("usage"))
        assert b"<script>alert" not in answer.content
        assert tables(answer)["Use by product and member, highest charge first"][1][:2] == [hostile, hostile]

    def test_the_most_expensive_lines_are_shown_and_the_rest_is_one(
        self, organization_pages: OrganizationPages, purse: Purse, months: Months
    ) -> None:
        for number in range(202):
            used(purse, 300 - number, months.last[0] + number * TICK, model=f"model-{number:03}")
        lines = tables(
            organization_pages["owner"].get(organization_pages.path("usage"), {"month": name_of(months.last)})
        )["Use by model, highest charge first"]
        assert len(lines) == 1 + 200 + 2
        assert lines[1][:3] == ["model-000", "$0.000300", "1"]
        assert lines[-2][:3] == ["2 more", "$0.000199", "2"]
        assert lines[-1][:3] == ["Total", f"$0.{sum(range(99, 301)):06}", "202"]


class TestPerson:
    """/wallet/usage."""

    def test_shows_a_month_by_day_by_product_and_by_model(
        self, alice: Client, own: Purse, organization_pages: OrganizationPages, months: Months
    ) -> None:
        used(own, 250, months.last[0], product="studio")
        used(own, 100, months.last[1] - TICK, model="reasoning")
        used(own, 999, months.this[0])
        used(Purse("account", account("bob").did).pay(10_000_000), 7, months.last[0])
        answer = alice.get("/wallet/usage", {"month": name_of(months.last)})
        found = tables(answer)
        assert "Charged <$0.01 Calls 2 By day" in text_of(answer)
        assert exact_amounts(answer) == ["$0.00035"]
        assert found["Use by product, highest charge first"][1:] == [
            ["Studio", "$0.00025", "1", "1,666", "0"],
            ["No product", "$0.00010", "1", "666", "0"],
            ["Total", "$0.00035", "2", "2,332", "0"],
        ]
        calls = found[f"Calls that began in {months.last[0]:%B %Y}, newest first"][1:]
        assert [call[1:] for call in calls] == [["reasoning", "Charged", "$0.00010"], ["fast", "Charged", "$0.00025"]]

    def test_shows_use_by_app_with_links_to_its_calls(
        self, alice: Client, own: Purse, organization_pages: OrganizationPages, months: Months
    ) -> None:
        Integration.objects.create(
            issuer="https://studio.example",
            product_id="studio",
            did_prefix="did:web:studio.example:",
            jwks={"keys": []},
        )
        apps = {"agw": 40, "https://notes.example": 30, "https://studio.example": 20, None: 10}
        made = {app: used(own, cost, months.last[0] + cost * TICK, client_id=app) for app, cost in apps.items()}
        month = {"month": name_of(months.last)}
        answer = alice.get("/wallet/usage", month)
        assert [line[:3] for line in tables(answer)["Use by app, highest charge first"][1:]] == [
            ["Command line (agw)", "$0.00004", "1"],
            ["notes.example", "$0.00003", "1"],
            ["Studio (server)", "$0.00002", "1"],
            ["Not recorded", "$0.00001", "1"],
            ["Total", "$0.00010", "4"],
        ]
        links = re.findall(r'href="\?month=[\d-]+&amp;app=([^"#]+)#calls"', answer.content.decode())
        assert links == ["agw", "https%3A%2F%2Fnotes.example", "https%3A%2F%2Fstudio.example"]
        for app in ("agw", "https://notes.example", "https://studio.example"):
            page = alice.get("/wallet/usage", {**month, "app": app}).content.decode()
            assert re.findall(r'href="/wallet/usage/(use_\w+)"', page) == [made[app]]
        unknown = text_of(alice.get("/wallet/usage", {**month, "app": "You won <b>"}))
        assert "Calls by this app Show the calls of all apps This app made no calls in this month." in unknown
        assert "You won" not in unknown

    def test_pages_of_an_apps_calls_stay_with_the_app(self, alice: Client, own: Purse, months: Months) -> None:
        for number in range(60):
            used(own, 1, months.this[0] + number * TICK, client_id="agw" if number % 10 else "other")
        query = {"month": name_of(months.this), "app": "agw"}
        page = alice.get("/wallet/usage", query).content.decode()
        assert re.findall(r"app=agw&amp;after=(use_\w+)#calls", page)
        [after] = re.findall(r"app=agw&amp;after=(use_\w+)#calls", page)
        page = alice.get("/wallet/usage", {**query, "after": after}).content.decode()
        assert len(re.findall(r'href="/wallet/usage/(use_\w+)"', page)) == 4
        assert f"?month={name_of(months.this)}&amp;app=agw#calls" in page

    def test_an_unavailable_month_is_reported(self, alice: Client, own: Purse) -> None:
        for month in NO_MONTHS:
            answer = alice.get("/wallet/usage", {"month": month})
            assert answer.status_code == 404, month
            assert "There is no usage for that month." in text_of(answer)
            assert alice.get("/wallet/usage.csv", {"month": month}).status_code == 404

    def test_calls_are_paged_without_one_left_out(self, alice: Client, own: Purse, months: Months) -> None:
        # Three at a time, and begun in another order than their ids have.
        made = [used(own, 1, months.this[0] + (40 - number // 3) * TICK) for number in range(120)]
        seen: list[str] = []
        query = {"month": name_of(months.this)}
        for size in (50, 50, 20):
            page = alice.get("/wallet/usage", query).content.decode()
            shown = re.findall(r'href="/wallet/usage/(use_\w+)"', page)
            assert len(shown) == size
            seen += shown
            older = re.findall(r"after=(use_\w+)#calls", page)
            query["after"] = older[0] if older else ""
        assert query["after"] == ""
        assert len(seen) == len(set(seen)) == 120
        assert set(seen) == set(made)

    def test_a_page_after_no_call_or_anothers_is_the_first_one(self, alice: Client, own: Purse, months: Months) -> None:
        theirs = used(Purse("account", account("bob").did).pay(10_000_000), 7, months.this[0])
        made = used(own, 1, months.this[0] + TICK)
        for after in (theirs, "", "use_nobody", "' OR 1=1 --", "9" * 400):
            assert made in alice.get("/wallet/usage", {"after": after}).content.decode(), after

    def test_asks_the_database_as_often_however_much_there_is(
        self, alice: Client, own: Purse, django_assert_max_num_queries: DjangoAssertNumQueries, months: Months
    ) -> None:
        for number in range(30):
            used(own, number, months.this[0] + number * TICK, model=f"model-{number}")
        with django_assert_max_num_queries(QUERIES_MAX):
            alice.get("/wallet/usage")

    def test_control_characters_in_an_address_are_refused(self, alice: Client, own: Purse) -> None:
        for path in (
            "/wallet/usage?month=%00",
            "/wallet/usage?after=%00",
            "/wallet/usage.csv?month=%0a",
            "/wallet/usage/%00",
        ):
            assert alice.get(path).status_code in (400, 404), path

    def test_asks_a_stranger_to_sign_in(self) -> None:
        for path in ("/wallet/usage.csv", "/wallet/usage/use_1"):
            answer = Client().get(path)
            assert (answer.status_code, answer["Location"]) == (302, f"/account/login/?next={path}")
