"""Checkouts in review: an operator credits what was truly paid or dismisses, once, whoever gets there first."""

from typing import Any

import pytest
from django.utils import timezone

from billing.adapters.base import ProviderError
from billing.models import Checkout, CheckoutStatus
from billing.operations import checkout_reviews, checkouts
from billing.operations.checkout_reviews import NotCreditable
from gateway.core.contract.errors import IntegrationUnavailable
from tests.billing.payments.payer import Payer, payments, status
from tests.support.concurrency import at_once
from tests.support.stripe import FakeStripe

REQUESTED, CAME = 12_500_000, 10_000_000


def in_review(payer: Payer, provider: FakeStripe, **record: Any) -> Checkout:
    """Pay something else than was asked: by default 10 dollars in place of 12.50."""
    checkout = payer.begin(REQUESTED)
    assert checkout.session_ref is not None
    provider.webhooks.hold()
    provider.pay(checkout.session_ref)
    provider.amend(checkout.session_ref, **(record or {"amount_total": 1000}))
    after = again(checkout)
    assert after.status == CheckoutStatus.REVIEW
    return after


def again(checkout: Checkout) -> Checkout:
    return checkouts.converge(Checkout.objects.get(pk=checkout.pk), now=timezone.now())


def test_what_was_truly_paid_is_credited(payer: Payer, provider: FakeStripe) -> None:
    checkout = in_review(payer, provider)
    assert checkout_reviews.credit(checkout.pk, now=timezone.now()) == CAME
    after = Checkout.objects.get(pk=checkout.pk)
    assert (after.status, after.amount_microusd, after.payment_ref) == ("paid", CAME, checkout.payment_ref)
    assert after.review_reason == f"amount: expected {REQUESTED} micro-USD, got {CAME}"
    assert payments(checkout) == [CAME]
    assert again(checkout).status == "paid", "and it stays so, whatever the provider is asked"
    assert payments(checkout) == [CAME]


def test_it_is_credited_once(payer: Payer, provider: FakeStripe) -> None:
    checkout = in_review(payer, provider)
    checkout_reviews.credit(checkout.pk, now=timezone.now())
    assert checkout_reviews.credit(checkout.pk, now=timezone.now()) is None
    assert checkouts.dismiss(checkout.pk, now=timezone.now()) is False
    assert payments(checkout) == [CAME]


def test_a_refund_of_it_is_taken_back(payer: Payer, provider: FakeStripe) -> None:
    checkout = in_review(payer, provider)
    checkout_reviews.credit(checkout.pk, now=timezone.now())
    provider.refund(str(checkout.session_ref), amount=300)
    assert again(checkout).taken_back_microusd == 3_000_000


@pytest.mark.parametrize(
    ("record", "words"),
    [
        ({"currency": "eur"}, "US dollars"),
        ({"livemode": True}, "other mode"),
        ({"payment_status": "no_payment_required"}, "no payment"),
        ({"metadata": {"transaction_id": "txn_other"}}, "another transaction"),
        ({"amount_total": 0}, "zero"),
    ],
)
def test_what_is_no_such_payment_is_not(payer: Payer, provider: FakeStripe, record: Any, words: str) -> None:
    checkout = in_review(payer, provider, **record)
    with pytest.raises(NotCreditable, match=words):
        checkout_reviews.credit(checkout.pk, now=timezone.now())
    assert status(checkout) == "review"
    assert payments(checkout) == []


def test_a_provider_that_is_away_changes_nothing(payer: Payer, provider: FakeStripe) -> None:
    checkout = in_review(payer, provider)
    provider.script("error", times=5)
    with pytest.raises(ProviderError):
        checkout_reviews.credit(checkout.pk, now=timezone.now())
    provider.api.scripts.clear()
    assert status(checkout) == "review"
    assert payments(checkout) == []


def test_without_a_provider(payer: Payer, provider: FakeStripe, settings: Any) -> None:
    checkout = in_review(payer, provider)
    settings.STRIPE_SECRET_KEY = ""
    with pytest.raises(IntegrationUnavailable):
        checkout_reviews.credit(checkout.pk, now=timezone.now())


def test_a_dismissed_one_stays_dismissed(payer: Payer, provider: FakeStripe) -> None:
    checkout = in_review(payer, provider)
    assert checkouts.dismiss(checkout.pk, now=timezone.now()) is True
    assert again(checkout).status == "expired"
    assert checkout_reviews.credit(checkout.pk, now=timezone.now()) is None
    assert payments(checkout) == []


@pytest.mark.parametrize("round_number", range(3))
def test_two_operators_who_credit_at_once(payer: Payer, provider: FakeStripe, round_number: int) -> None:
    checkout = in_review(payer, provider)

    def credit() -> int | None:
        return checkout_reviews.credit(checkout.pk, now=timezone.now())

    assert sorted(at_once(credit, credit, credit), key=str) == [CAME, None, None]
    assert payments(checkout) == [CAME]


@pytest.mark.parametrize("round_number", range(3))
def test_one_credits_and_one_dismisses(payer: Payer, provider: FakeStripe, round_number: int) -> None:
    checkout = in_review(payer, provider)
    credited, dismissed = at_once(
        lambda: checkout_reviews.credit(checkout.pk, now=timezone.now()),
        lambda: checkouts.dismiss(checkout.pk, now=timezone.now()),
    )
    assert (credited, dismissed) in [(CAME, False), (None, True)]
    assert payments(checkout) == ([CAME] if credited else [])
    assert status(checkout) == ("paid" if credited else "expired")


def test_an_operator_and_the_job_at_once(payer: Payer, provider: FakeStripe) -> None:
    checkout = in_review(payer, provider)
    credited, _ = at_once(
        lambda: checkout_reviews.credit(checkout.pk, now=timezone.now()),
        lambda: again(checkout),
    )
    assert credited in (CAME, None)
    assert payments(checkout) == ([CAME] if credited else [])
