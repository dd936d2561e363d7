"""The usage pages of a person and of an organization: a month's figures, tables and calls, its export, and who sees them."""

import csv
import html
import io
import re
from collections.abc import Callable
from datetime import datetime, timedelta
from itertools import product
from typing import Any, cast

import pytest
from asgiref.sync import async_to_sync
from django.test import Client
from django.utils import timezone
from pytest_django import DjangoAssertNumQueries

from accounts.models import Account
from billing.models import PriceVersion, Takeover
from billing.queries import usage_csv
from billing.rules.months import month_around, month_before, name_of
from organizations.operations import members
from organizations.rules.roles import Role
from tests.factories import invoicing
from tests.factories.billing import Purse, release, review, settle
from tests.factories.organizations import Team, account
from tests.portal.organization_house import FRAME_QUERIES_MAX, House, signed_in
from tests.portal.test_wallet import text_of

pytestmark = pytest.mark.django_db

TICK = timedelta(microseconds=1)
THIS = month_around(timezone.now())
LAST = month_before(THIS[0])
BEFORE = month_before(LAST[0])
QUERIES_MAX = FRAME_QUERIES_MAX + 20
NO_MONTHS = ["", "2999-01", "1999-01", "2026-13", "now", "' OR 1=1 --", "<script>", "9" * 400, "２０２６-０１"]  # noqa: RUF001

# What may become of a call whose hold is a dollar, and what its page says of it.
ENDINGS: list[tuple[Callable[[str], Any], str]] = [
    (lambda one: settle(one, 300), "Charged Charged by the count of the model provider."),
    (lambda one: settle(one, 2_000_000), "It used more than was held for it; you do not pay for that."),
    (lambda one: settle(one, 300, basis="delivered"), "The answer broke off. Only what was delivered is charged."),
    (lambda one: settle(one, 300, basis="operator"), "The operator of this gateway decided the charge."),
    (lambda one: release(one, resolution="rejected"), "Not charged The model provider refused the request."),
    (lambda one: release(one, resolution="overloaded"), "Not charged The model provider was overloaded"),
    (lambda one: release(one, resolution="unresolved"), "Nobody could find out what was used"),
    (lambda one: review(one, "timed out"), "Under review The model provider did not answer in time."),
    (lambda one: review(one, "deadline_passed"), "Under review The gateway was interrupted during the call."),
    (lambda one: None, "In progress The call is not over yet."),
]

Rows = list[list[str]]


def used(purse: Purse, cost: int, at: datetime, **fields: Any) -> str:
    """Let a call begin and be charged at that time."""
    usage_id = purse.call(2_000_000, now=at, **fields)
    settle(usage_id, cost, now=at)
    return usage_id


def tables(answer: Any) -> dict[str, Rows]:
    """Read the page's tables by their captions, each line as the texts of its cells."""
    page = answer.content.decode()
    found = {}
    for caption, body in re.findall(r'<caption class="unseen">(.*?)</caption>(.*?)</table>', page, re.DOTALL):
        lines = re.findall(r"<tr.*?</tr>", body, re.DOTALL)
        cells = [re.findall(r"<t[hd][^>]*>(.*?)</t[hd]>", line, re.DOTALL) for line in lines]
        found[caption] = [[html.unescape(re.sub(r"<[^>]+>", "", cell)).strip() for cell in line] for line in cells]
    return found


def csv_of(answer: Any) -> list[dict[str, str]]:
    """Read an export."""

    async def body() -> bytes:
        return b"".join([piece async for piece in cast("Any", answer.streaming_content)])

    assert answer.status_code == 200
    return list(csv.DictReader(io.StringIO(async_to_sync(body)().decode(), newline="")))


@pytest.fixture
def purse(house: House) -> Purse:
    return Purse("organization", house.team.id).pay(100_000_000)


@pytest.fixture
def alice() -> Client:
    return signed_in(account("alice"))


@pytest.fixture
def own() -> Purse:
    return Purse("account", account("alice").did).pay(100_000_000)


class TestOrganization:
    """/organizations/<org_id>/usage."""

    def test_tells_a_month_by_day_by_product_and_member_and_by_model(self, house: House, purse: Purse) -> None:
        member, owner = house.member("member"), house.member("owner")
        used(purse, 250, LAST[0], product="studio", membership_id=member)
        used(purse, 100, LAST[1] - TICK, product="studio", membership_id=owner, model="reasoning")
        used(purse, 30, LAST[0])
        used(purse, 999, THIS[0], membership_id=owner)
        used(purse, 888, LAST[0] - TICK)
        answer = house["billing"].get(house.path("usage"), {"month": name_of(LAST)})
        words, found = text_of(answer), tables(answer)
        assert f"Usage in {LAST[0]:%B %Y} Month (UTC)" in words
        assert "Charged $0.00038 Calls 3 By day" in words
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
        assert len(days) == (LAST[1] - LAST[0]).days
        assert [day[1:3] for day in (days[0], days[-1])] == [["$0.00028", "2"], ["$0.00010", "1"]]
        assert {tuple(day[1:]) for day in days[1:-1]} == {("$0.00000", "0", "0", "0")}

    def test_shows_the_current_month_up_to_today(self, house: House, purse: Purse) -> None:
        used(purse, 5, THIS[0])
        purse.call(70)
        answer = house["owner"].get(house.path("usage"))
        days = tables(answer)["Use by day"][1:-1]
        today = timezone.now()
        assert len(days) in (today.day, (today - timedelta(minutes=1)).day)
        assert "Charged $0.000005 Calls 2 Held now by open calls $0.00007" in text_of(answer)

    def test_offers_the_months_since_the_first_call(self, house: House, purse: Purse) -> None:
        offered = re.compile(r'<option value="([^"]*)"')
        assert offered.findall(house.get("owner", "usage")) == [name_of(THIS)]
        used(purse, 5, BEFORE[1] - TICK)
        assert offered.findall(house.get("owner", "usage")) == [name_of(month) for month in (THIS, LAST, BEFORE)]
        page = house["owner"].get(house.path("usage"), {"month": name_of(LAST)}).content.decode()
        assert f'<option value="{name_of(LAST)}" selected>' in page
        assert "No calls were made in this month." in page
        assert "charts.js" not in page

    def test_a_month_that_is_not_on_offer_is_told_so(self, house: House, purse: Purse) -> None:
        used(purse, 5, THIS[0])
        for month in NO_MONTHS:
            answer = house["owner"].get(house.path("usage"), {"month": month})
            assert answer.status_code == 404, month
            assert "There is no usage of that month. Choose one of the months above." in text_of(answer)
            assert "$" not in text_of(answer)
            assert b"<script>" not in answer.content
            assert house["owner"].get(house.path("usage.csv"), {"month": month}).status_code == 404

    def test_a_stranger_cannot_tell_which_months_were_used(self, house: House, purse: Purse) -> None:
        used(purse, 5, LAST[0])
        other = Team("oscar")
        theirs = f"/organizations/{other.id}/usage"
        assert signed_in(account("oscar")).get(theirs, {"month": name_of(LAST)}).status_code == 404
        assert "$0.000005" not in text_of(signed_in(account("oscar")).get(theirs))

    def test_is_for_those_who_manage_money(self, house: House) -> None:
        for role, path in product(Role, (house.path("usage"), house.path("usage.csv"))):
            answer = house[role].get(path)
            assert answer.status_code == (200 if role in (Role.OWNER, Role.BILLING) else 403), (role, path)
            assert "no-store" in answer["Cache-Control"]
            assert "private" in answer["Cache-Control"]

    def test_strangers_and_removed_members_find_nothing(self, house: House) -> None:
        members.remove(org_id=house.team.id, membership_id=house.member("billing"), actor_did=house.team.owner.did)
        for path in (house.path("usage"), house.path("usage.csv")):
            for client in (signed_in(account("stranger")), house["billing"]):
                assert client.get(path).status_code == 404
            asked = Client().get(path)
            assert (asked.status_code, asked["Location"]) == (302, f"/account/login/?next={path}")

    def test_the_seats_of_a_month_that_is_over_are_on_its_invoice(self, house: House, purse: Purse) -> None:
        used(purse, 5, LAST[0])
        path = {"month": name_of(LAST)}
        assert "There is no invoice for the seats of this month." in text_of(
            house["owner"].get(house.path("usage"), path)
        )
        invoice = invoicing.paid(house.team.id)
        answer = house["owner"].get(house.path("usage"), path)
        assert f"The seats of this month are on invoice {invoice.number} of $20.00. Paid" in text_of(answer)
        assert f'href="{house.path("invoices", invoice.pk)}"' in answer.content.decode()
        assert house["owner"].get(house.path("invoices", invoice.pk)).status_code == 200

    def test_asks_the_database_as_often_however_much_there_is(
        self, house: House, purse: Purse, django_assert_max_num_queries: DjangoAssertNumQueries
    ) -> None:
        people = [house.member(role.value) for role in Role]
        for number in range(40):
            about = {"product": ("studio", "courier", None)[number % 3], "membership_id": people[number % 4]}
            used(purse, number, LAST[0] + number * TICK, model=f"model-{number}", **about)
        for month in (THIS, LAST):
            with django_assert_max_num_queries(QUERIES_MAX):
                house["owner"].get(house.path("usage"), {"month": name_of(month)})

    def test_names_are_texts_and_nothing_else(self, house: House, purse: Purse) -> None:
        hostile = '"><script>alert(1)</script>'
        Account.objects.filter(pk=account("member").pk).update(display_name=hostile)
        used(purse, 5, THIS[0], membership_id=house.member("member"), model=hostile, product=hostile)
        answer = house["owner"].get(house.path("usage"))
        assert b"<script>alert" not in answer.content
        assert tables(answer)["Use by product and member, highest charge first"][1][:2] == [hostile, hostile]

    def test_the_dearest_lines_are_shown_and_the_rest_is_one(self, house: House, purse: Purse) -> None:
        for number in range(202):
            used(purse, 300 - number, LAST[0] + number * TICK, model=f"model-{number:03}")
        lines = tables(house["owner"].get(house.path("usage"), {"month": name_of(LAST)}))[
            "Use by model, highest charge first"
        ]
        assert len(lines) == 1 + 200 + 2
        assert lines[1][:3] == ["model-000", "$0.000300", "1"]
        assert lines[-2][:3] == ["2 more", "$0.000199", "2"]
        assert lines[-1][:3] == ["Total", f"$0.{sum(range(99, 301)):06}", "202"]


class TestPerson:
    """/wallet/usage."""

    def test_tells_a_month_by_day_by_product_and_by_model(self, alice: Client, own: Purse, house: House) -> None:
        used(own, 250, LAST[0], product="studio")
        used(own, 100, LAST[1] - TICK, model="reasoning")
        used(own, 999, THIS[0])
        used(Purse("account", account("bob").did).pay(10_000_000), 7, LAST[0])
        answer = alice.get("/wallet/usage", {"month": name_of(LAST)})
        found = tables(answer)
        assert "Charged $0.00035 Calls 2 By day" in text_of(answer)
        assert found["Use by product, highest charge first"][1:] == [
            ["Studio", "$0.00025", "1", "1,666", "0"],
            ["No product", "$0.00010", "1", "666", "0"],
            ["Total", "$0.00035", "2", "2,332", "0"],
        ]
        calls = found[f"Calls that began in {LAST[0]:%B %Y}, newest first"][1:]
        assert [call[1:] for call in calls] == [["reasoning", "Charged", "$0.00010"], ["fast", "Charged", "$0.00025"]]

    def test_a_month_that_is_not_on_offer_is_told_so(self, alice: Client, own: Purse) -> None:
        for month in NO_MONTHS:
            answer = alice.get("/wallet/usage", {"month": month})
            assert answer.status_code == 404, month
            assert "There is no usage of that month." in text_of(answer)
            assert alice.get("/wallet/usage.csv", {"month": month}).status_code == 404

    def test_calls_are_paged_without_one_left_out(self, alice: Client, own: Purse) -> None:
        # Three at a time, and begun in another order than their ids have.
        made = [used(own, 1, THIS[0] + (40 - number // 3) * TICK) for number in range(120)]
        seen: list[str] = []
        query = {"month": name_of(THIS)}
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

    def test_a_page_after_no_call_or_anothers_is_the_first_one(self, alice: Client, own: Purse) -> None:
        theirs = used(Purse("account", account("bob").did).pay(10_000_000), 7, THIS[0])
        made = used(own, 1, THIS[0] + TICK)
        for after in (theirs, "", "use_nobody", "' OR 1=1 --", "9" * 400):
            assert made in alice.get("/wallet/usage", {"after": after}).content.decode(), after

    def test_asks_the_database_as_often_however_much_there_is(
        self, alice: Client, own: Purse, django_assert_max_num_queries: DjangoAssertNumQueries
    ) -> None:
        for number in range(30):
            used(own, number, THIS[0] + number * TICK, model=f"model-{number}")
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


class TestCall:
    """/wallet/usage/<usage_id>: what one call cost and why it ended as it did."""

    def test_says_why_it_ended(self, alice: Client, own: Purse) -> None:
        for end, words in ENDINGS:
            usage_id = own.call(1_000_000)
            end(usage_id)
            answer = alice.get(f"/wallet/usage/{usage_id}")
            assert answer.status_code == 200
            assert words in text_of(answer)
            assert usage_id in text_of(answer)

    def test_a_live_session_is_told_part_by_part(self, alice: Client, own: Purse) -> None:
        prices = {"input_token": "4", "output_token": "16", "input_audio_token": "32", "output_audio_token": "64"}
        live = PriceVersion.objects.create(alias="realtime", components=prices)
        usage_id = own.call(1_000_000, route="realtime", model="realtime", price_version=live.pk)
        sound = {"input_tokens": 1500, "input_audio_tokens": 1000, "output_tokens": 900, "output_audio_tokens": 700}
        settle(usage_id, 82_000, quantities=sound)
        assert tables(alice.get(f"/wallet/usage/{usage_id}"))["The parts of the charge"] == [
            ["Part", "Count", "Price", "Amount"],
            ["Input tokens", "500", "$4.00 a million", "$0.0020"],
            ["Output tokens", "200", "$16.00 a million", "$0.0032"],
            ["Input tokens of sound", "1,000", "$32.00 a million", "$0.0320"],
            ["Output tokens of sound", "700", "$64.00 a million", "$0.0448"],
            ["Charge", "$0.082"],
        ]

    def test_a_call_that_was_taken_over_is_told_at_its_price(self, alice: Client, own: Purse) -> None:
        dearer = PriceVersion.objects.create(alias="deep", components={"input_token": "3", "output_token": "9"})
        usage_id = own.call(1_000_000)
        Takeover.objects.create(reservation_id=usage_id, model="deep", price_version=dearer)
        settle(usage_id, 300, quantities={"input_tokens": 100, "output_tokens": 0})
        answer = alice.get(f"/wallet/usage/{usage_id}")
        assert "fast; it was overloaded, and deep took the call over" in text_of(answer)
        assert tables(answer)["The parts of the charge"][1:] == [
            ["Input tokens", "100", "$3.00 a million", "$0.0003"],
            ["Charge", "$0.0003"],
        ]

    def test_says_which_credits_paid_for_it(self, alice: Client, own: Purse) -> None:
        lot = own.grant(200)
        usage_id = own.call(500)
        settle(usage_id, 300)
        assert f"Paid from a credit $0.0002 {lot}" in text_of(alice.get(f"/wallet/usage/{usage_id}"))

    def test_of_another_person_or_of_nobody_is_not_found(self, alice: Client, own: Purse, house: House) -> None:
        theirs = used(Purse("account", account("bob").did).pay(10_000_000), 7, THIS[0])
        shared = used(Purse("organization", house.team.id).pay(10_000_000), 7, THIS[0], did=account("alice").did)
        for usage_id in (theirs, shared, "use_nobody", "' OR 1=1 --", "9" * 400):
            assert alice.get(f"/wallet/usage/{usage_id}").status_code == 404


class TestExport:
    """The CSV files of both pages."""

    def test_has_every_call_with_its_charge(self, house: House, purse: Purse) -> None:
        charged = used(purse, 1_500_250, LAST[0], product="studio", membership_id=house.member("member"))
        given_back = purse.call(60, now=LAST[0] + TICK)
        release(given_back, resolution="rejected", now=LAST[0] + 2 * TICK)
        late = purse.call(500, now=LAST[0] - TICK)
        settle(late, 40, now=LAST[0])
        used(purse, 999, THIS[0])
        answer = house["billing"].get(house.path("usage.csv"), {"month": name_of(LAST)})
        assert answer["Content-Type"] == "text/csv; charset=utf-8; header=present"
        assert answer["Content-Disposition"] == f'attachment; filename="usage-acme-{name_of(LAST)}.csv"'
        rows = csv_of(answer)
        assert [row["usage_id"] for row in rows] == [late, charged, given_back]
        assert rows[1] == {
            **dict.fromkeys(usage_csv.HEADER, ""),
            "usage_id": charged,
            "status": "settled",
            "outcome": "Charged by the count of the model provider.",
            "begun_at": f"{name_of(LAST)}-01T00:00:00Z",
            "closed_at": f"{name_of(LAST)}-01T00:00:00Z",
            "route": "chat.completions",
            "model": "fast",
            "product": "studio",
            "member": "Member",
            "membership_id": house.member("member"),
            "did": "did:web:studio.example:alice",
            "input_tokens": "10001666",
            "output_tokens": "0",
            "max_cost_microusd": "2000000",
            "charged_microusd": "1500250",
            "charged_usd": "1.500250",
            "charged_in_month_microusd": "1500250",
        }
        assert (rows[0]["charged_in_month_microusd"], rows[0]["begun_at"][:7]) == ("40", name_of(BEFORE))
        told = (rows[2]["status"], rows[2]["outcome"], rows[2]["charged_usd"])
        assert told == ("released", "The model provider refused the request.", "0.000000")

    def test_adds_up_to_the_page(self, house: House, purse: Purse) -> None:
        for number in range(7):
            used(purse, 3 * number + 1, LAST[0] + number * TICK)
        rows = csv_of(house["owner"].get(house.path("usage.csv"), {"month": name_of(LAST)}))
        assert sum(int(row["charged_in_month_microusd"]) for row in rows) == 70
        page = house["owner"].get(house.path("usage"), {"month": name_of(LAST)})
        assert "Charged $0.00007 Calls 7" in text_of(page)

    def test_a_name_is_no_formula(self, house: House, purse: Purse) -> None:
        used(purse, 5, THIS[0], membership_id=house.member("member"))
        for name in ("=1+1", "+1", "-1", "@SUM(A1)", "\t=1", '=HYPERLINK("http://x.example")'):
            Account.objects.filter(pk=account("member").pk).update(display_name=name)
            [row] = csv_of(house["owner"].get(house.path("usage.csv")))
            assert row["member"] == f"'{name}"

    def test_a_persons_own(self, alice: Client, own: Purse) -> None:
        made = used(own, 5, THIS[0])
        used(Purse("account", account("bob").did).pay(10_000_000), 7, THIS[0])
        answer = alice.get("/wallet/usage.csv")
        assert answer["Content-Disposition"] == f'attachment; filename="usage-alice-{name_of(THIS)}.csv"'
        [row] = csv_of(answer)
        assert (row["usage_id"], row["member"], row["charged_usd"]) == (made, "", "0.000005")

    def test_names_are_looked_up_for_many_rows_at_once(
        self, house: House, purse: Purse, django_assert_max_num_queries: DjangoAssertNumQueries
    ) -> None:
        people = [house.member(role.value) for role in Role]
        for number in range(60):
            used(purse, number, THIS[0] + number * TICK, membership_id=people[number % 4])
        with django_assert_max_num_queries(FRAME_QUERIES_MAX + 8):
            rows = csv_of(house["owner"].get(house.path("usage.csv")))
        assert [row["member"] for row in rows[:4]] == ["Owner", "Admin", "Billing", "Member"]
        assert len(rows) == 60

    def test_of_an_owner_without_calls_is_a_header(self, house: House) -> None:
        assert csv_of(house["owner"].get(house.path("usage.csv"))) == []
