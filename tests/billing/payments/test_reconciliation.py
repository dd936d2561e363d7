"""The job asks the provider, so that nothing depends on a webhook that came."""

import logging
from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone
from pytest_django import Settings

from billing.adapters import configured
from billing.models import Checkout, Transfer
from billing.operations import checkouts, invoice_payments
from billing.queries import checkouts as queries
from billing.rules import checkouts as rules
from gateway.schedule import INTERVAL_SECONDS
from tests.billing.payments.payer import USD, Payer, payments, reconcile, status
from tests.support.concurrency import at_once
from tests.support.stripe import FakeStripe

SESSION = "/v1/checkout/sessions/*"


@pytest.fixture(autouse=True)
def no_webhooks(payer: Payer, provider: FakeStripe) -> None:
    """Lose every webhook."""
    provider.webhooks.hold()


def begun(payer: Payer, *, now_minus: timedelta = timedelta(0)) -> Checkout:
    """Begin a top-up without placing it, as a process does that dies."""
    return checkouts.begin(
        payer.owner,
        kind="top_up",
        amount_microusd=5 * USD,
        product=None,
        idempotency_key="one",
        requested_by=payer.owner[1],
        now=timezone.now() - now_minus,
    )[0]


def test_a_paid_session_is_found_within_two_minutes(payer: Payer, provider: FakeStripe) -> None:
    checkout = payer.begin()
    due = checkout.next_check_at
    assert due is not None
    provider.pay(str(checkout.session_ref))
    longest = rules.OPEN_INTERVAL + timedelta(seconds=INTERVAL_SECONDS["billing.tasks.reconcile_payments"])
    assert longest <= timedelta(minutes=2) - timedelta(seconds=30)
    assert reconcile(after=longest) == 1
    assert payer.money == (5 * USD, 0, 0)
    assert payments(checkout) == [5 * USD]


def test_an_unpaid_session_stays_open_and_is_looked_up_again(payer: Payer) -> None:
    checkout = payer.begin()
    for minutes in (2, 4, 6):
        assert reconcile(after=timedelta(minutes=minutes)) == 1
        assert status(checkout) == "open"
    assert checkout.next_check_at is not None
    assert checkout.checks == 3


def test_what_is_not_due_is_not_looked_up(payer: Payer, provider: FakeStripe) -> None:
    payer.begin()
    before = len(provider.requests)
    assert reconcile(after=timedelta(0)) == 0
    assert len(provider.requests) == before


def test_an_expired_session_is_over(payer: Payer, provider: FakeStripe) -> None:
    checkout = payer.begin()
    provider.expire(str(checkout.session_ref))
    reconcile()
    assert (status(checkout), checkout.next_check_at) == ("expired", None)
    assert reconcile(after=timedelta(days=1)) == 0


def test_a_transaction_that_was_never_placed_is_placed(payer: Payer, provider: FakeStripe) -> None:
    checkout = begun(payer)
    reconcile()
    assert status(checkout) == "open"
    assert payer.ask(key="one").json()["url"] == provider.sessions[0]["url"]
    assert len(provider.sessions) == 1


def test_one_that_cannot_be_placed_for_a_day_is_given_up(payer: Payer, provider: FakeStripe) -> None:
    checkout = begun(payer)
    provider.script("unauthorized", path="/v1/checkout/sessions", times=2)
    reconcile()
    assert status(checkout) == "creating"
    reconcile(after=timedelta(hours=26))
    assert (status(checkout), checkout.next_check_at) == ("expired", None)
    # Whoever comes back with the same key still gets a page.
    provider.api.scripts.clear()
    assert payer.ask(key="one").json()["transactionId"] == checkout.id
    assert status(checkout) == "open"


def test_webhook_and_jobs_at_once_credit_once(payer: Payer, provider: FakeStripe) -> None:
    checkout = payer.begin()
    provider.pay(str(checkout.session_ref))
    [event] = provider.events_of("checkout.session.completed")
    provider.webhooks.url = f"{payer.origin}/webhooks/stripe"
    provider.script(path=SESSION, times=6, delay_seconds=0.2)  # all have asked before one applies its answer
    calls: list[Any] = [lambda: provider.webhooks.deliver(event), reconcile, reconcile, reconcile]
    calls += [lambda: checkouts.converge(Checkout.objects.get(pk=checkout.id), now=timezone.now()).status] * 2
    results = at_once(*calls)
    assert results[0] == [200]
    assert results[4:] == ["paid", "paid"]
    assert payments(checkout) == [5 * USD]
    assert payer.money == (5 * USD, 0, 0)


def test_an_answer_that_is_out_of_date_is_not_applied(payer: Payer, provider: FakeStripe) -> None:
    """Whoever asked first must not undo what somebody learned later."""
    checkout = payer.begin()
    provider.pay(str(checkout.session_ref))
    checkouts.converge(checkout, now=timezone.now())
    checkout.refresh_from_db()
    before = checkouts.fetch(configured.require(), checkout)
    provider.refund(str(checkout.session_ref), amount=200)
    checkouts.converge(checkout, now=timezone.now())
    assert payer.money == (3 * USD, 0, 0)
    assert checkouts.apply(checkout.id, before, now=timezone.now()) is None
    assert payer.money == (3 * USD, 0, 0)


@pytest.mark.parametrize(
    ("lie", "word"),
    [
        ({"amount_total": 499}, "amount"),
        ({"amount_total": 501}, "amount"),
        ({"amount_total": None}, "amount"),
        ({"currency": "eur"}, "currency"),
        ({"livemode": True}, "mode"),
        ({"mode": "setup"}, "kind"),
        ({"payment_status": "no_payment_required"}, "payment"),
        ({"metadata": {"transaction_id": "txn_other"}}, "txn_other"),
    ],
)
def test_a_payment_that_was_not_requested_goes_to_review(
    payer: Payer, provider: FakeStripe, caplog: pytest.LogCaptureFixture, lie: dict[str, Any], word: str
) -> None:
    checkout = payer.begin()
    provider.pay(str(checkout.session_ref))
    provider.amend(str(checkout.session_ref), **lie)
    reconcile()
    assert status(checkout) == "review"
    assert word in str(checkout.review_reason)
    assert (payer.money, payments(checkout), checkout.paid_at) == ((0, 0, 0), [], None)
    [alarm] = [record for record in caplog.records if record.levelno == logging.CRITICAL]
    assert checkout.id in alarm.getMessage()
    reconcile(after=timedelta(days=2))
    assert (status(checkout), payer.money) == ("review", (0, 0, 0))


def test_a_review_ends_by_itself_once_the_record_is_right(payer: Payer, provider: FakeStripe) -> None:
    checkout = payer.begin()
    provider.pay(str(checkout.session_ref))
    provider.amend(str(checkout.session_ref), amount_total=499)
    reconcile()
    provider.amend(str(checkout.session_ref), amount_total=500)
    checkouts.converge(checkout, now=timezone.now())
    assert (status(checkout), payer.money) == ("paid", (5 * USD, 0, 0))


def test_a_dismissed_review_stays_so(payer: Payer, provider: FakeStripe) -> None:
    checkout = payer.begin()
    provider.pay(str(checkout.session_ref))
    provider.amend(str(checkout.session_ref), amount_total=499)
    reconcile()
    assert checkouts.dismiss(checkout.id, now=timezone.now())
    assert not checkouts.dismiss(checkout.id, now=timezone.now())
    checkouts.converge(Checkout.objects.get(pk=checkout.id), now=timezone.now())
    assert (status(checkout), payer.money) == ("expired", (0, 0, 0))
    assert checkout.review_reason is not None


class TestLateBanks:
    """A payment whose bank answers later."""

    def test_pays_when_the_bank_does(self, payer: Payer, provider: FakeStripe) -> None:
        checkout = payer.begin()
        provider.pay(str(checkout.session_ref), settles=False)
        reconcile()
        assert (status(checkout), payer.money) == ("open", (0, 0, 0))
        provider.settle(str(checkout.session_ref))
        reconcile(after=timedelta(days=3))
        assert (status(checkout), payer.money) == ("paid", (5 * USD, 0, 0))

    def test_is_over_when_the_bank_refuses(self, payer: Payer, provider: FakeStripe) -> None:
        checkout = payer.begin()
        provider.pay(str(checkout.session_ref), settles=False)
        provider.fail(str(checkout.session_ref))
        reconcile()
        assert (status(checkout), payer.money) == ("expired", (0, 0, 0))


class TestFailures:
    """A provider that is away, and rows that are bad."""

    @pytest.mark.parametrize("preset", ["array", "drop-answer", "empty", "error", "garbage", "html", "unauthorized"])
    def test_nothing_changes_until_it_answers(self, payer: Payer, provider: FakeStripe, preset: str) -> None:
        checkout = payer.begin()
        provider.pay(str(checkout.session_ref))
        provider.script(preset, path=SESSION, times=2)
        reconcile()
        assert (status(checkout), payer.money) == ("open", (0, 0, 0))
        provider.api.scripts.clear()
        reconcile(after=timedelta(minutes=4))
        assert (status(checkout), payer.money) == ("paid", (5 * USD, 0, 0))

    @pytest.mark.parametrize("lie", [{"status": None}, {"payment_status": 7}, {"amount_total": "500"}, {"mode": []}])
    def test_an_answer_without_sense_credits_nothing(
        self, payer: Payer, provider: FakeStripe, lie: dict[str, Any]
    ) -> None:
        checkout = payer.begin()
        provider.pay(str(checkout.session_ref))
        provider.amend(str(checkout.session_ref), **lie)
        reconcile()
        assert payer.money == (0, 0, 0)
        assert status(checkout) in ("open", "review")

    def test_one_bad_row_does_not_keep_the_others_waiting(self, payer: Payer, provider: FakeStripe) -> None:
        rows = [payer.begin() for _ in range(20)]
        for row in rows:
            provider.pay(str(row.session_ref))
        lost = rows[0]
        Checkout.objects.filter(pk=lost.pk).update(session_ref="cs_test_gone", next_check_at=timezone.now())
        assert reconcile() == 19
        assert payer.money == (19 * 5 * USD, 0, 0)
        assert (status(lost), lost.next_check_at is not None) == ("open", True)

    def test_a_payment_is_credited_although_its_refunds_are_unavailable(
        self, payer: Payer, provider: FakeStripe
    ) -> None:
        checkout = payer.begin()
        provider.pay(str(checkout.session_ref))
        provider.script("error", path="/v1/payment_intents/*", times=2)
        reconcile()
        assert (status(checkout), payer.money) == ("paid", (5 * USD, 0, 0))
        assert checkout.payment_ref is not None

    def test_a_payment_is_credited_where_intents_are_not_offered(self, payer: Payer, provider: FakeStripe) -> None:
        checkout = payer.begin()
        provider.pay(str(checkout.session_ref))
        provider.amend(str(checkout.session_ref), payment_intent=None)
        reconcile()
        reconcile(after=timedelta(hours=1))
        assert (status(checkout), payer.money) == ("paid", (5 * USD, 0, 0))

    def test_rows_of_the_other_mode_are_left_alone(
        self, payer: Payer, provider: FakeStripe, settings: Settings
    ) -> None:
        checkout = payer.begin()
        provider.pay(str(checkout.session_ref))
        settings.STRIPE_SECRET_KEY = provider.live_secret_key
        assert reconcile() == 0
        assert status(checkout) == "open"
        settings.STRIPE_SECRET_KEY = provider.secret_key
        assert reconcile() == 1
        assert payer.money == (5 * USD, 0, 0)

    def test_without_a_provider_the_job_does_nothing(self, payer: Payer, settings: Settings) -> None:
        payer.begin()
        settings.STRIPE_SECRET_KEY = ""
        assert reconcile() == 0
        assert invoice_payments.follow(now=timezone.now()) == 0


def test_a_live_key_makes_live_payments(payer: Payer, provider: FakeStripe, settings: Settings) -> None:
    settings.STRIPE_SECRET_KEY = provider.live_secret_key
    checkout = payer.begin()
    assert checkout.is_live
    provider.pay(str(checkout.session_ref))
    reconcile()
    assert payer.money == (5 * USD, 0, 0)


def test_paid_ones_are_looked_at_ever_more_seldom(payer: Payer, provider: FakeStripe) -> None:
    checkout = payer.begin()
    provider.pay(str(checkout.session_ref))
    reconcile()
    checkout.refresh_from_db()
    assert checkout.paid_at is not None
    looks = 0
    while checkout.next_check_at is not None:
        checkouts.postpone(checkout.id, now=checkout.next_check_at)
        before = checkout.next_check_at
        checkout.refresh_from_db()
        looks += 1
        assert checkout.next_check_at is None or checkout.next_check_at > before
    assert 500 < looks < 700
    assert Transfer.objects.filter(source__startswith=checkout.id).count() == 1


def test_the_longest_due_come_first(payer: Payer) -> None:
    first, second = payer.begin(), payer.begin()
    later = timezone.now() + timedelta(minutes=5)
    Checkout.objects.filter(pk=first.pk).update(next_check_at=later)
    due = queries.due("stripe", False, later, 10)
    assert [row.pk for row in due] == [second.pk, first.pk]
    assert [row.pk for row in queries.due("stripe", False, later, 1)] == [second.pk]
