"""What an operator does about payments in the console: by operations, once, with a log entry and a right for it."""

import re
from typing import Any

import pytest
from django.contrib.admin.models import CHANGE
from django.contrib.messages import get_messages
from django.test import Client
from django.utils import timezone
from pytest_django import Settings

from billing.models import Checkout
from billing.operations import checkouts
from billing.queries import audit
from gateway.core.contract.ids import new_id
from tests.gateway.console import ALICE, make_checkout
from tests.gateway.operators import address, clerk, logged
from tests.support.stripe import FakeStripe

pytestmark = pytest.mark.django_db


def begun() -> Checkout:
    return checkouts.begin_and_place(
        ("account", ALICE),
        kind="top_up",
        amount_microusd=12_500_000,
        product=None,
        idempotency_key=new_id("key"),
        requested_by=ALICE,
        now=timezone.now(),
    )


@pytest.fixture
def reviewed(provider: FakeStripe) -> Checkout:
    """A checkout of 12.50 dollars that was paid with 10."""
    checkout = begun()
    provider.pay(str(checkout.session_ref))
    provider.amend(str(checkout.session_ref), amount_total=1000)
    return checkouts.converge(checkout, now=timezone.now())


def act(client: Client, verb: str, checkout: Checkout, **form: str) -> Any:
    return client.post(
        f"{address('billing_checkout_changelist')}{checkout.pk}/{verb}/", {"_form_submitted": "on", **form}
    )


def ask_again(client: Client, checkout: Checkout) -> Any:
    return act(client, "ask_again", checkout, reason="they paid")


def messages(answer: Any) -> list[str]:
    return [str(message) for message in get_messages(answer.wsgi_request)]


def status(checkout: Checkout) -> tuple[str, int | None]:
    checkout.refresh_from_db()
    return checkout.status, checkout.amount_microusd


def test_what_was_paid_is_credited_with_a_reason(operator: Client, reviewed: Checkout) -> None:
    answer = act(operator, "credit", reviewed, reason="agreed with Alice")
    assert answer["HX-Redirect"] == address("billing_checkout_change", reviewed.pk)
    assert status(reviewed) == ("paid", 10_000_000)
    assert logged() == [(CHANGE, "Credited $10.00: agreed with Alice")]
    assert act(operator, "credit", reviewed, reason="again").status_code == 403
    assert act(operator, "dismiss", reviewed, reason="again").status_code == 403
    assert len(logged()) == 1
    assert audit.findings() == []


def test_a_row_that_is_come_to_from_the_list_can_be_resolved(operator: Client, reviewed: Checkout) -> None:
    listed = operator.get(address("billing_checkout_changelist"), {"status__exact": "review"}).content.decode()
    [link] = set(re.findall(r'href="(/admin/billing/checkout/txn[^"/]+/change/)[^"]*"', listed))
    page = operator.get(link).content.decode()
    for verb in ("ask_again", "credit", "dismiss"):
        assert f'hx-get="{address("billing_checkout_changelist")}{reviewed.pk}/{verb}/"' in page


def test_it_is_dismissed_with_a_reason(operator: Client, reviewed: Checkout) -> None:
    act(operator, "dismiss", reviewed, reason="refunded by hand")
    assert status(reviewed) == ("expired", 12_500_000)
    assert logged() == [(CHANGE, "Dismissed: refunded by hand")]
    assert audit.findings() == []


def test_a_reason_is_required(operator: Client, reviewed: Checkout) -> None:
    for verb in ("credit", "dismiss"):
        assert "HX-Redirect" not in act(operator, verb, reviewed, reason="")
    assert status(reviewed) == ("review", 12_500_000)
    assert logged() == []


def test_what_is_no_money_here_is_refused_in_words(operator: Client, provider: FakeStripe, reviewed: Checkout) -> None:
    provider.amend(str(reviewed.session_ref), currency="eur")
    assert messages(act(operator, "credit", reviewed, reason="please")) == ["It was not paid in US dollars."]
    assert status(reviewed) == ("review", 12_500_000)
    assert logged() == []


def test_a_provider_that_is_away_changes_nothing(operator: Client, provider: FakeStripe, reviewed: Checkout) -> None:
    provider.script("error", times=9)
    for answer in (act(operator, "credit", reviewed, reason="please"), ask_again(operator, reviewed)):
        assert "The payment provider is not responding" in messages(answer)[0]
    assert status(reviewed) == ("review", 12_500_000)
    assert logged() == []


def test_without_a_provider(operator: Client, reviewed: Checkout, settings: Settings) -> None:
    settings.STRIPE_SECRET_KEY = ""
    for answer in (act(operator, "credit", reviewed, reason="please"), ask_again(operator, reviewed)):
        assert "is not configured" in messages(answer)[0]
    act(operator, "dismiss", reviewed, reason="no provider any more")
    assert status(reviewed) == ("expired", 12_500_000)


def test_the_provider_is_queried_again(operator: Client, provider: FakeStripe) -> None:
    checkout = begun()
    provider.pay(str(checkout.session_ref))
    answer = ask_again(operator, checkout)
    assert answer["HX-Redirect"] == address("billing_checkout_change", checkout.pk)
    assert status(checkout) == ("paid", 12_500_000)
    assert logged() == [(CHANGE, "Asked the provider again, paid: they paid")]
    ask_again(operator, checkout)
    assert audit.findings() == []


def test_an_operator_without_the_right_may_look_only(provider: FakeStripe, reviewed: Checkout) -> None:
    client = clerk("view_checkout")
    page = client.get(address("billing_checkout_change", reviewed.pk))
    assert page.status_code == 200
    assert b"Credit the amount paid" not in page.content
    assert b"Ask the provider again" not in page.content
    for verb in ("credit", "dismiss"):
        assert act(client, verb, reviewed, reason="please").status_code == 403
    assert ask_again(client, reviewed).status_code == 403
    assert status(reviewed) == ("review", 12_500_000)


@pytest.mark.parametrize("name", ["pk", "session_ref", "owner_key"])
@pytest.mark.usefixtures("furnished")
def test_a_checkout_is_found_by(operator: Client, name: str) -> None:
    wanted = make_checkout(owner_key="did:web:studio.example:bob")
    page = operator.get(address("billing_checkout_changelist"), {"q": getattr(wanted, name)})
    assert [row.pk for row in page.context["cl"].result_list] == [wanted.pk]


def test_the_list_filters_by_status(operator: Client) -> None:
    waiting = make_checkout()
    make_checkout(status="open", review_reason=None)
    page = operator.get(address("billing_checkout_changelist"), {"status__exact": "review"})
    assert [row.pk for row in page.context["cl"].result_list] == [waiting.pk]


def test_a_badge_counts_what_waits(operator: Client) -> None:
    def badges() -> list[str]:
        page = operator.get(address("index")).content.decode()
        return re.findall(r"bg-red-100[^>]*>(\w+)</span>", page)

    assert badges() == []
    make_checkout()
    make_checkout()
    assert badges() == ["2"]
