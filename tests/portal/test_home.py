"""The header of every page, and the home page: name, balance and next steps."""

import re
from typing import Any

import pytest
from allauth.account.models import EmailAddress
from allauth.mfa.models import Authenticator
from django.test import Client
from pytest_django import Settings

from accounts.models import Account
from billing.operations import own_budgets
from billing.rules.budgets import BudgetPeriod
from organizations.models import Organization
from organizations.rules.roles import Role
from tests.factories.billing import Purse, review, settle
from tests.factories.organizations import Team, account
from tests.portal.organization_browser import signed_in
from tests.portal.test_pages import device_of
from tests.portal.test_wallet import text_of
from tests.support.stripe import FakeStripe

pytestmark = pytest.mark.django_db

CURRENT = re.compile(r'<a href="([^"]+)" aria-current="(\w+)">')


@pytest.fixture
def alice() -> Account:
    return account("alice")


@pytest.fixture
def client(alice: Account) -> Client:
    return signed_in(alice)


def header_of(answer: Any) -> str:
    return str(answer.content.decode().partition("<header")[2].partition("</header>")[0])


def steps_of(client: Client) -> list[tuple[str, str]]:
    """Return each suggestion's link text and URL."""
    page = client.get("/").content.decode().partition('id="next"')[2].partition("</section>")[0]
    return [(words, path) for path, words in re.findall(r'href="([^"]+)">([^<]+)<', page)]


class TestHeader:
    """The current section and the signed-in person."""

    @pytest.mark.parametrize(
        ("path", "marked"),
        [
            ("/", ("/", "page")),
            ("/organizations", ("/organizations", "page")),
            ("/wallet", ("/wallet", "page")),
            ("/wallet/payments", ("/wallet", "true")),
            ("/apps", ("/apps", "page")),
            ("/developers", ("/developers", "page")),
            ("/account/2fa/", ("/account/2fa/", "page")),
            ("/account/sessions/", ("/account/2fa/", "true")),
        ],
    )
    def test_marks_the_section_of_the_page(self, client: Client, path: str, marked: tuple[str, str]) -> None:
        assert CURRENT.findall(header_of(client.get(path))) == [marked]

    def test_a_page_below_an_organization_belongs_to_organizations(self) -> None:
        team = Team("owner")
        page = signed_in(account("owner")).get(f"/organizations/{team.id}/wallet")
        assert CURRENT.findall(header_of(page)) == [("/organizations", "true")]

    @pytest.mark.parametrize(
        ("known", "name"),
        [
            ({"display_name": "Alice <A>", "email": "alice@example.com"}, "Alice &lt;A&gt;"),
            ({"display_name": "", "email": "alice@example.com"}, "alice@example.com"),
            ({"display_name": "", "email": None}, "did:web:studio.example:alice"),
        ],
    )
    def test_shows_the_name_of_the_signed_in_person(
        self, client: Client, known: dict[str, str | None], name: str
    ) -> None:
        Account.objects.update(**known)
        for path in ("/", "/developers", "/account/2fa/"):
            assert f">{name}</strong>" in header_of(client.get(path))

    def test_shows_no_name_to_anonymous_visitors(self) -> None:
        header = header_of(Client().get("/account/login/"))
        assert "Signed in as" not in header
        assert "Sign out" not in header


class TestHome:
    """Balance, this month's spend and the next steps."""

    def test_shows_balance_and_spending(self, client: Client, alice: Account) -> None:
        purse = Purse("account", alice.did).pay(2_000_000)
        settle(purse.call(600_000), 500_000)
        purse.call(100_000)
        words = text_of(client.get("/"))
        assert "Available $1.40" in words
        assert re.search(r"Spent in \w+ 20\d\d \$0\.50 ", words)
        assert "$1.40" not in text_of(signed_in(account("bob")).get("/"))

    @pytest.mark.parametrize(
        ("paid", "shown"),
        [
            (24_999_865, '<data value="24.999865" title="$24.999865">$25.00</data>'),
            (24_994_999, '<data value="24.994999" title="$24.994999">$24.99</data>'),
            (42, '<data value="0.000042" title="$0.000042">&lt;$0.01</data>'),
            (5_000_000, "$5.00"),
        ],
    )
    def test_rounds_to_cents_and_has_the_exact_amount_as_title(
        self, client: Client, alice: Account, paid: int, shown: str
    ) -> None:
        Purse("account", alice.did).pay(paid)
        assert f"<span>Available</span><strong>{shown}</strong>" in client.get("/").content.decode()

    def test_a_newcomer_is_led_on(self, client: Client, provider: FakeStripe) -> None:
        assert steps_of(client) == [
            ("Add money", "/wallet"),
            ("Add a passkey", "/account/2fa/webauthn/add/"),
            ("See how", "/developers"),
            ("Create an organization", "/organizations"),
        ]

    def test_nothing_is_suggested_that_cannot_be_done_or_is_done(self, client: Client, alice: Account) -> None:
        assert ("Add money", "/wallet") not in steps_of(client), "no payment provider is set up"
        Authenticator.objects.create(user=alice, type="webauthn", data={"name": "Laptop", "credential": {}})
        Team("alice")
        assert steps_of(client) == [("See how", "/developers")]
        device_of(alice)
        assert steps_of(client) == [("Set a budget", "/apps#set")]
        own_budgets.put(did=alice.did, client_id=None, limit_microusd=5_000_000, period=BudgetPeriod.DAY)
        assert steps_of(client) == []
        assert "Nothing needs your attention." in text_of(client.get("/"))

    @pytest.mark.parametrize("host", ["127.0.0.1:8000", "192.0.2.7", "[::1]:8000"])
    def test_a_passkey_is_not_suggested_at_an_ip_address(self, client: Client, settings: Settings, host: str) -> None:
        settings.ALLOWED_HOSTS = ["*"]
        paths = [
            re.findall(r'href="([^"]+)"', client.get("/", headers={"Host": one}).content.decode())
            for one in (host, "localhost:8000")
        ]
        assert ["/account/2fa/webauthn/add/" in found for found in paths] == [False, True]

    def test_an_address_is_verified_before_a_passkey(self, client: Client, alice: Account, settings: Settings) -> None:
        address = EmailAddress.objects.create(user=alice, email="alice@example.com", verified=False)
        assert ("Add a passkey", "/account/2fa/webauthn/add/") in steps_of(client), "no mail can be sent"
        settings.MAIL_IS_CONFIGURED = True
        assert steps_of(client)[0] == ("Verify your email address", "/account/email/")
        assert ("Add a passkey", "/account/2fa/webauthn/add/") not in steps_of(client)
        EmailAddress.objects.filter(pk=address.pk).update(verified=True)
        assert steps_of(client)[0] == ("Add a passkey", "/account/2fa/webauthn/add/")

    def test_says_where_the_money_went_and_what_is_held(self, client: Client, alice: Account) -> None:
        purse = Purse("account", alice.did).pay(20_000_000)
        for number in range(4):
            settle(
                purse.call(5_000_000, client_id=f"https://a{number}.example", model=f"m{number}"),
                (number + 1) * 1_000_000,
            )
        settle(purse.call(5_000_000, client_id="https://free.example", model="m3"), 0)
        review(purse.call(2_000_000))
        purse.call(1_000_000)
        words = text_of(client.get("/"))
        assert (
            "By app a3.example $4.00 a2.example $3.00 a1.example $2.00 By model m3 $4.00 m2 $3.00 m1 $2.00 All of"
            in words
        )
        assert "Held by open calls $3.00" in words
        assert "The outcome of 1 of your calls is not known yet, so $2.00 stay held." in words
        assert "What cannot be found out within 72 hours is not charged." in words
        others = text_of(signed_in(account("bob")).get("/"))
        assert not any(one in others for one in ("Where it went", "Held by", "not known yet"))

    def test_budgets_near_their_limit_are_pointed_out(self, client: Client, alice: Account) -> None:
        purse, app = Purse("account", alice.did).pay(20_000_000), "https://notes.example"
        own_budgets.put_monthly(did=alice.did, client_id=app, limit_microusd=5_000_000)
        own_budgets.put(did=alice.did, client_id=None, limit_microusd=4_000_000, period=BudgetPeriod.DAY)
        own_budgets.put(did=alice.did, client_id=None, limit_microusd=90_000_000, period=BudgetPeriod.MONTH)
        purse.call(4_000_000, client_id=app)
        words = text_of(client.get("/"))
        assert "Your budget of $4.00 a day is used up, so calls are refused. Change the budget" in words
        assert "Your budget of $5.00 a month for notes.example is 80% used. Change the budget" in words
        assert "$90.00" not in words
        assert steps_of(client)[:2] == [
            ("Change the budget", "/apps?app=#set"),
            ("Change the budget", "/apps?app=https%3A%2F%2Fnotes.example#set"),
        ]

    def test_a_debt_comes_first(self, client: Client, alice: Account, provider: FakeStripe) -> None:
        purse = Purse("account", alice.did).pay(100)
        settle(purse.call(100), 60)
        purse.refund(100)
        assert "You owe $0.00006." in text_of(client.get("/"))
        assert steps_of(client)[0] == ("Add money", "/wallet")

    def test_an_overdue_bill_is_shown_to_those_who_can_pay_it(self) -> None:
        team = Team("owner")
        team.join("member", Role.MEMBER)
        Organization.objects.update(is_past_due=True)
        assert ("Open its invoices", f"/organizations/{team.id}/invoices") in steps_of(signed_in(account("owner")))
        assert "overdue" not in text_of(signed_in(account("member")).get("/"))


def test_sessions_are_named_by_browser_and_system(client: Client) -> None:
    agent = "Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0"
    client.get("/", headers={"User-Agent": agent})
    page = client.get("/account/sessions/", headers={"User-Agent": agent}).content.decode()
    assert "<strong>Firefox on Linux</strong>" in page
    assert "Gecko" not in page
