"""A person's wallet in the portal: balance, adding money, and payments."""

import html
import re
from typing import Any

import pytest
from django.test import Client
from pytest_django import Settings

from billing.models import Checkout
from billing.operations import checkouts
from billing.queries import audit
from gateway.core.contract.ids import new_id
from tests.factories.billing import Purse, release, settle
from tests.factories.organizations import account
from tests.portal.usage_pages import exact_amounts
from tests.support.stripe import FakeStripe

pytestmark = pytest.mark.django_db

MILLION = 1_000_000


@pytest.fixture
def client() -> Client:
    return client_of("alice")


@pytest.fixture
def purse() -> Purse:
    return Purse("account", account("alice").did)


def client_of(name: str) -> Client:
    client = Client()
    client.force_login(account(name), backend="django.contrib.auth.backends.ModelBackend")
    return client


def text_of(answer: Any) -> str:
    """Return a page's text on one line."""
    body = answer.content.decode().partition("<main")[2]
    return " ".join(html.unescape(re.sub(r"<[^>]+>", " ", body)).split())


def key_of(answer: Any) -> str:
    [key] = re.findall(r'name="key" value="([^"]+)"', answer.content.decode())
    return str(key)


def add(client: Client, amount: str = "12.50", key: str = "", **form: str) -> Any:
    return client.post("/wallet/payments", {"amount": amount, "key": key or new_id("frm"), **form})


def paid(client: Client, provider: FakeStripe, amount: str = "12.50") -> Checkout:
    """Pay, and process the provider's record."""
    add(client, amount)
    checkout = Checkout.objects.latest("created_at")
    provider.pay(str(checkout.session_ref))
    return checkouts.converge(checkout, now=checkout.created_at)


def page_of(client: Client, checkout: Checkout, query: str = "") -> str:
    return text_of(client.get(f"/wallet/payments/{checkout.pk}{query}"))


def test_asks_a_stranger_to_sign_in() -> None:
    for path in (
        "/wallet",
        "/wallet/payments",
        "/wallet/payments/txn_1",
        "/wallet/payments/txn_1/receipt",
        "/wallet/usage",
    ):
        answer = Client().get(path)
        assert (answer.status_code, answer["Location"]) == (302, f"/account/login/?next={path}")
    assert add(Client())["Location"].startswith("/account/login/")
    assert not Checkout.objects.exists()


def test_home_leads_to_it(client: Client) -> None:
    assert '<a href="/wallet"><strong>Wallet</strong>' in client.get("/").content.decode()


def test_an_empty_wallet(client: Client, provider: FakeStripe) -> None:
    words = text_of(client.get("/wallet"))
    assert "Available $0.00 Balance $0.00 Credits $0.00 Held by open calls $0.00 Add money" in words
    assert "There are no payments yet." in text_of(client.get("/wallet/payments"))
    assert "No calls yet." in text_of(client.get("/wallet/usage"))
    assert "Debt" not in words


def test_shows_balance_credits_holds_and_calls(client: Client, purse: Purse) -> None:
    purse.pay(2 * MILLION).grant(300, product="studio")
    settle(purse.call(100), 25)
    release(purse.call(60))
    purse.call(50)
    page = client.get("/wallet")
    words = text_of(page)
    assert exact_amounts(page) == ["$2.000225"]
    shown = "Available $2.00 Balance $1.999975 Credits $0.0003 Held by open calls $0.00005"
    assert shown in words
    assert "$0.0003 of $0.0003, for studio only" in words


def test_usage_shows_the_month_and_the_latest_calls(client: Client, purse: Purse) -> None:
    purse.pay(2 * MILLION)
    settle(purse.call(100), 25)
    settle(purse.call(900_000), 500_000)
    release(purse.call(60))
    purse.call(50)
    page = client.get("/wallet/usage")
    words = text_of(page)
    assert "Charged $0.50 Calls 3 Held now by open calls <$0.01" in words
    assert exact_amounts(page) == ["$0.500025", "$0.00005"]
    cells = re.findall(r'<td class="money">(.*?)</td>', page.content.decode().partition('id="calls"')[2])
    assert cells == ["Not known yet", "$0.000000", "$0.500000", "$0.000025"], "as many decimals in every row"
    outcomes = re.findall(r"fast (In progress|Not charged|Charged)", words)
    assert outcomes == ["In progress", "Not charged", "Charged", "Charged"]
    assert "$0.500025" not in client_of("bob").get("/wallet/usage").content.decode()


def test_explains_a_debt(client: Client, purse: Purse) -> None:
    purse.pay(100)
    settle(purse.call(100), 60)
    purse.refund(100)
    words = text_of(client.get("/wallet"))
    assert "Available $0.00 Balance $0.00" in words
    assert "Debt $0.00006. A refund or dispute reversed money that was already spent." in words


def test_no_button_without_a_provider(client: Client, settings: Settings) -> None:
    settings.STRIPE_SECRET_KEY = ""
    page = client.get("/wallet")
    assert "You cannot add money because no payment provider is set up." in text_of(page)
    assert "Add money</button>" not in page.content.decode()
    answer = add(client)
    assert answer.status_code == 503
    assert not Checkout.objects.exists()


def test_says_whether_real_money_moves(client: Client, provider: FakeStripe, settings: Settings) -> None:
    assert "Test mode: no real money is charged." in text_of(client.get("/wallet"))
    settings.STRIPE_SECRET_KEY = provider.live_secret_key
    assert "Test mode" not in text_of(client.get("/wallet"))


def test_adding_money_leads_to_the_hosted_page(client: Client, provider: FakeStripe) -> None:
    page = client.get("/wallet")
    answer = add(client, key=key_of(page))
    checkout = Checkout.objects.get()
    assert (answer.status_code, answer["Location"]) == (303, checkout.url)
    assert checkout.owner == ("account", account("alice").did)
    assert (checkout.kind, checkout.amount_microusd, checkout.product) == ("top_up", 12_500_000, None)
    [session] = provider.sessions
    assert (session["amount_total"], session["client_reference_id"]) == (1250, checkout.pk)
    assert session["success_url"].endswith(f"/wallet/payments/{checkout.pk}")
    assert session["cancel_url"].endswith(f"/wallet/payments/{checkout.pk}?cancelled=1")


def test_its_forms_may_lead_to_the_hosted_page_and_nowhere_else(
    client: Client, provider: FakeStripe, settings: Settings
) -> None:
    for page in (client.get("/wallet"), add(client, "nothing")):
        target = page["Content-Security-Policy"].partition("form-action ")[2]
        assert target == f"'self' https://checkout.stripe.com {provider.origin}"
    settings.STRIPE_API_BASE = "https://api.stripe.com"
    assert client.get("/wallet")["Content-Security-Policy"].endswith("form-action 'self' https://checkout.stripe.com")
    assert client.get("/developers")["Content-Security-Policy"].endswith("form-action 'self'")


def test_a_hosted_page_elsewhere_is_reached_by_a_link(client: Client, provider: FakeStripe) -> None:
    """Browsers block a form's redirect to a host that the policy does not allow, but not a link."""
    key = new_id("frm")
    add(client, key=key)
    checkout = Checkout.objects.get()
    Checkout.objects.update(url="https://pay.shop.example/c/1")
    answer = add(client, key=key)
    assert (answer.status_code, answer["Location"]) == (303, f"/wallet/payments/{checkout.pk}")
    page = client.get(answer["Location"]).content.decode()
    assert (
        '<a class="button second" href="https://pay.shop.example/c/1" rel="noreferrer">Continue to payment</a>' in page
    )


def test_sending_the_form_twice_asks_for_one_payment(client: Client, provider: FakeStripe) -> None:
    key = key_of(client.get("/wallet"))
    assert add(client, key=key)["Location"] == add(client, key=key)["Location"]
    assert len(provider.sessions) == Checkout.objects.count() == 1
    assert key_of(client.get("/wallet")) != key


def test_another_amount_under_the_same_form_needs_a_confirmation(client: Client, provider: FakeStripe) -> None:
    key = new_id("frm")
    add(client, "5", key)
    answer = add(client, "7", key)
    assert answer.status_code == 422
    assert "This form was already sent with different details." in text_of(answer)
    assert 'name="amount" value="7"' in answer.content.decode()
    assert add(client, "7", key_of(answer)).status_code == 303
    amounts = Checkout.objects.order_by("created_at").values_list("amount_microusd", flat=True)
    assert list(amounts) == [5 * MILLION, 7 * MILLION]


def test_sending_a_paid_form_again_shows_the_payment(client: Client, provider: FakeStripe) -> None:
    key = new_id("frm")
    add(client, "5", key)
    provider.pay(provider.sessions[0]["id"])
    checkout = checkouts.converge(Checkout.objects.get(), now=Checkout.objects.get().created_at)
    assert add(client, "5", key)["Location"] == f"/wallet/payments/{checkout.pk}"


@pytest.mark.parametrize("preset", ["error", "drop-answer", "rate-limited", "garbage"])
def test_a_provider_that_is_away_can_be_tried_again(client: Client, provider: FakeStripe, preset: str) -> None:
    provider.script(preset, times=5)
    key = new_id("frm")
    answer = add(client, key=key)
    assert answer.status_code == 503
    assert "The payment provider is not responding. Nothing was charged." in text_of(answer)
    assert key_of(answer) == key, "the same form asks for the same payment"
    provider.api.scripts.clear()
    assert add(client, key=key).status_code == 303
    assert len(provider.sessions) == Checkout.objects.count() == 1


@pytest.mark.parametrize("amount", ["", "0.99", "10000.01", "5.001", "-5", "NaN", "Infinity", "five", "1" * 30])
def test_an_amount_that_makes_no_sense(client: Client, provider: FakeStripe, amount: str) -> None:
    answer = add(client, amount)
    assert answer.status_code == 400
    page = answer.content.decode()
    assert 'role="alert" id="id_amount_error"' in page
    assert 'aria-invalid="true"' in page
    assert not Checkout.objects.exists()
    assert provider.requests == []


@pytest.mark.parametrize("key", ["frm_1", "txn_01m7ytcx6w9bspg7b12pdxjvaw", "frm_01M7YTCX6W9BSPG7B12PDXJVAW", "é"])
def test_a_form_without_its_key_is_shown_again(client: Client, provider: FakeStripe, key: str) -> None:
    assert add(client, key=key).status_code == 400
    assert not Checkout.objects.exists()


@pytest.mark.parametrize(("amount", "microusd"), [("1", MILLION), ("10000", 10_000 * MILLION), ("1.1", 1_100_000)])
def test_amounts_are_exact(client: Client, provider: FakeStripe, amount: str, microusd: int) -> None:
    assert add(client, amount).status_code == 303
    assert Checkout.objects.get().amount_microusd == microusd


def test_coming_back_before_the_confirmation(client: Client, provider: FakeStripe) -> None:
    add(client)
    checkout = Checkout.objects.get()
    words = page_of(client, checkout)
    assert "Waiting for confirmation" in words
    assert "has not confirmed a payment yet" in words
    assert "Paid" not in words


def test_a_page_that_waits_looks_again_by_itself(client: Client, provider: FakeStripe) -> None:
    add(client)
    path = f"/wallet/payments/{Checkout.objects.get().pk}"
    for query, waits in (("", True), ("?cancelled=1", False)):
        page = client.get(path + query).content.decode()
        assert ('<noscript><meta http-equiv="refresh" content="5"></noscript>' in page) is waits
        assert (" data-awaited" in page) is waits
    page = client.get(f"/wallet/payments/{paid(client, provider).pk}").content.decode()
    assert "refresh" not in page
    assert " data-awaited" not in page


def test_coming_back_paid(client: Client, provider: FakeStripe) -> None:
    checkout = paid(client, provider)
    words = page_of(client, checkout)
    assert "Paid The money is in the wallet. For Wallet balance Amount $12.50" in words
    assert checkout.pk in words
    assert "Available $12.50" in text_of(client.get("/wallet"))
    assert "Wallet balance Paid $12.50" in text_of(client.get("/wallet/payments"))
    assert audit.findings() == []


def test_coming_back_cancelled(client: Client, provider: FakeStripe) -> None:
    add(client)
    checkout = Checkout.objects.get()
    words = page_of(client, checkout, "?cancelled=1")
    assert "Cancelled You left the payment page. Nothing was charged." in words
    assert "Continue to payment" in words


def test_a_paid_checkout_is_not_shown_as_cancelled(client: Client, provider: FakeStripe) -> None:
    words = page_of(client, paid(client, provider), "?cancelled=1")
    assert "Cancelled" not in words
    assert "The money is in the wallet." in words


def test_an_expired_page(client: Client, provider: FakeStripe) -> None:
    add(client)
    checkout = Checkout.objects.get()
    provider.expire(str(checkout.session_ref))
    checkout = checkouts.converge(checkout, now=checkout.created_at)
    assert "Not paid The payment page has expired. Nothing was charged." in page_of(client, checkout)


def test_a_payment_under_review(client: Client, provider: FakeStripe) -> None:
    add(client)
    checkout = Checkout.objects.get()
    provider.pay(str(checkout.session_ref))
    provider.amend(str(checkout.session_ref), amount_total=1)
    checkout = checkouts.converge(checkout, now=checkout.created_at)
    assert "Under review" in page_of(client, checkout)
    assert "Available $0.00" in text_of(client.get("/wallet"))
    assert "came 10000" not in page_of(client, checkout), "the provider's record is the operator's to read"


def test_a_refund_is_shown(client: Client, provider: FakeStripe) -> None:
    checkout = paid(client, provider)
    provider.refund(str(checkout.session_ref), amount=250)
    checkout = checkouts.converge(checkout, now=checkout.created_at)
    assert "$2.50 of it was refunded or disputed." in page_of(client, checkout)
    assert "Available $10.00" in text_of(client.get("/wallet"))


def test_another_persons_payment_is_not_found(client: Client, provider: FakeStripe) -> None:
    checkout = paid(client, provider)
    assert client_of("bob").get(f"/wallet/payments/{checkout.pk}").status_code == 404
    assert client_of("bob").get(f"/wallet/payments/{checkout.pk}/receipt").status_code == 404
    assert checkout.pk not in client_of("bob").get("/wallet/payments").content.decode()
    assert client.get("/wallet/payments/txn_nobody").status_code == 404
    assert "$12.50" not in text_of(client_of("bob").get("/wallet"))


def test_a_receipt_shows_amount_and_purpose(client: Client, provider: FakeStripe) -> None:
    checkout = paid(client, provider)
    path = f"/wallet/payments/{checkout.pk}/receipt"
    assert f'href="{path}"' in client.get(f"/wallet/payments/{checkout.pk}").content.decode()
    words = text_of(client.get(path))
    assert checkout.paid_at is not None
    assert re.search(r"Receipt From Account Gateway Date \d+ \w+ 20\d\d, \d\d:\d\d UTC Paid by \S+", words)
    assert "Description Wallet balance Amount paid $12.50 USD" in words
    assert f"Payment ID {checkout.pk} Provider reference {checkout.payment_ref}" in words
    assert "Test mode: no real money was charged." in words
    provider.refund(str(checkout.session_ref), amount=250)
    checkouts.converge(checkout, now=checkout.created_at)
    assert "Amount paid $12.50 USD Refunded or disputed $2.50 USD" in text_of(client.get(path))


def test_an_unpaid_checkout_has_no_receipt(client: Client, provider: FakeStripe) -> None:
    add(client)
    path = f"/wallet/payments/{Checkout.objects.get().pk}"
    assert client.get(f"{path}/receipt").status_code == 404
    assert "View receipt" not in client.get(path).content.decode()


def test_payments_are_paged(client: Client, provider: FakeStripe) -> None:
    for _ in range(3):
        add(client)
    first = Checkout.objects.get(pk=Checkout.objects.earliest("created_at").pk)
    Checkout.objects.bulk_create(
        Checkout(
            id=new_id("txn"),
            owner_kind="account",
            owner_key=first.owner_key,
            kind="top_up",
            amount_microusd=MILLION,
            idempotency_key=new_id("frm"),
            requested_by=first.owner_key,
            provider="stripe",
            is_live=False,
        )
        for _ in range(20)
    )
    assert "Page 1 of 2" in text_of(client.get("/wallet/payments"))
    assert first.pk in client.get("/wallet/payments?page=2").content.decode()


class TestPresets:
    """Preset amounts, and a custom one."""

    def test_are_offered(self, client: Client, provider: FakeStripe) -> None:
        page = client.get("/wallet").content.decode()
        assert re.findall(r'name="preset" value="(\d+)"', page) == ["10", "25", "50", "100"]
        assert "$10" in page

    @pytest.mark.parametrize("preset", ["10", "25", "50", "100"])
    def test_one_is_enough(self, client: Client, provider: FakeStripe, preset: str) -> None:
        assert add(client, "", preset=preset).status_code == 303
        assert Checkout.objects.get().amount_microusd == int(preset) * MILLION

    @pytest.mark.parametrize(
        ("preset", "amount"), [("25", "12.50"), ("25", "25"), ("30", ""), ("-25", ""), ("25", "five"), ("", "")]
    )
    def test_ambiguous_amounts_are_refused(
        self, client: Client, provider: FakeStripe, preset: str, amount: str
    ) -> None:
        answer = add(client, amount, preset=preset)
        assert answer.status_code == 400
        assert 'role="alert"' in answer.content.decode()
        assert not Checkout.objects.exists()


def test_needs_a_csrf_token(provider: FakeStripe) -> None:
    client = Client(enforce_csrf_checks=True)
    client.force_login(account("alice"), backend="django.contrib.auth.backends.ModelBackend")
    assert add(client).status_code == 403
    assert not Checkout.objects.exists()
