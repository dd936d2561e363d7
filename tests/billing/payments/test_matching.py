"""The provider's balance is matched with our payments: nothing that one side lacks stays unseen."""

import logging
from collections.abc import Iterator
from datetime import timedelta

import pytest
from django.utils import timezone
from pytest_django import Settings

from billing import tasks
from billing.adapters import stripe_balance
from billing.adapters.base import ProviderError, ProviderUnavailable
from billing.models import MatchedDay, ProviderMovement, Transfer
from billing.operations import checkouts, payment_differences, payment_matching
from billing.queries import audit
from gateway.core.contract.ids import new_id
from gateway.core.jobs.models import JobRun
from tests.billing.payments.matching import (
    BALANCE,
    USD,
    after_midnight,
    begun,
    converged,
    differences,
    match,
    midnight,
    movement,
    paid,
    refund,
)
from tests.support.stripe import FakeStripe

pytestmark = pytest.mark.django_db

DAY = timedelta(days=1)


@pytest.fixture(autouse=True)
def _audited(db: None, provider: FakeStripe) -> Iterator[None]:
    yield
    assert audit.findings() == []


def sold_here(provider: FakeStripe, cents: int = 700, **members: str) -> str:
    """Make the provider charge for a checkout that this database does not have."""
    begun()
    transaction_id = new_id("txn")
    provider.sell(cents, metadata={"transaction_id": transaction_id}, **members)  # type: ignore[arg-type]
    return transaction_id


def test_payments_refunds_and_disputes_agree(provider: FakeStripe) -> None:
    first, second, third = paid(provider), paid(provider, 7 * USD), paid(provider, 9 * USD)
    refund(provider, first, 200)
    won = provider.dispute(str(second.session_ref), amount=300)
    provider.end_dispute(won["id"], "won")
    provider.dispute(str(third.session_ref))
    for checkout in (first, second, third):
        converged(checkout)
    assert match() == {"days": 1, "movements": 7}
    [day] = MatchedDay.objects.all()
    assert (day.day, day.reading, day.movements) == (timezone.now().date(), 1, 7)
    assert day.matched_at is not None
    assert match() == {}
    assert match(2 * DAY) == {"days": 2, "movements": 7}


def test_money_that_is_not_the_gateways_is_no_difference(provider: FakeStripe) -> None:
    paid(provider)
    provider.sell(100)
    for name in ("order-17", "txn_17", new_id("txn").upper(), "txn_" + 27 * "0"):
        provider.sell(100, metadata={"transaction_id": name})
    other = provider.sell(900)
    provider.refund(other["id"], amount=100)
    provider.dispute(other["id"])
    provider.pay_out(400)
    sold_here(provider, live=True)  # type: ignore[arg-type]
    assert match() == {"days": 1, "movements": 1}
    assert ProviderMovement.objects.get().amount_microusd == 5 * USD


def test_a_charge_with_our_metadata_and_no_row_here_is_a_difference(
    provider: FakeStripe, caplog: pytest.LogCaptureFixture
) -> None:
    paid(provider)
    transaction_id = sold_here(provider)
    assert match() == {"days": 1, "movements": 2, "differences": 1, "open differences": 1}
    assert differences() == [(transaction_id, "unknown", True)]
    [alarm] = [record.getMessage() for record in caplog.records if record.levelno == logging.ERROR]
    assert transaction_id in alarm
    assert "$7.00 paid and $7.00 kept, here are $0.00 and $0.00" in alarm
    assert match() == {"open differences": 1}
    assert match(2 * DAY) == {"days": 2, "movements": 2, "open differences": 1}
    assert len(differences()) == 1


def test_the_refund_of_an_unknown_charge_closes_it(provider: FakeStripe) -> None:
    transaction_id = sold_here(provider)
    match()
    after_midnight(provider)
    provider.refund(provider.charges[0]["id"])
    assert match() == {"closed": 1}
    assert differences() == [(transaction_id, "unknown", False)]


def test_a_payment_that_every_event_and_job_missed_is_booked_and_no_difference(provider: FakeStripe) -> None:
    checkout = begun()
    provider.pay(str(checkout.session_ref))
    assert match() == {"days": 1, "movements": 1}
    assert Transfer.objects.get(kind="payment", source=checkout.pk).amount_microusd == 5 * USD


def test_a_refund_that_every_event_and_job_missed_is_booked_and_no_difference(provider: FakeStripe) -> None:
    checkout = paid(provider)
    refund(provider, checkout, 200)
    assert match() == {"days": 1, "movements": 2}
    checkout.refresh_from_db()
    assert checkout.taken_back_microusd == 2 * USD


def test_a_payment_in_review_is_a_difference_until_it_is_credited(provider: FakeStripe) -> None:
    checkout = begun()
    provider.pay(str(checkout.session_ref))
    provider.amend(str(checkout.session_ref), amount_total=499)
    match()
    assert differences() == [(checkout.pk, "not_booked", True)]
    provider.amend(str(checkout.session_ref), amount_total=500)
    assert match() == {"closed": 1}


def test_a_payment_in_review_that_is_refunded_and_dismissed_is_none(provider: FakeStripe) -> None:
    checkout = begun()
    provider.pay(str(checkout.session_ref))
    provider.amend(str(checkout.session_ref), amount_total=499)
    match()
    after_midnight(provider)
    refund(provider, checkout, 500)
    checkouts.dismiss(checkout.pk, now=timezone.now())
    assert match() == {"closed": 1}


def test_a_payment_here_without_one_at_the_provider_is_a_difference_until_it_is_found(provider: FakeStripe) -> None:
    checkout = paid(provider)
    late = movement(provider, checkout)
    del provider.store._objects[late["id"]]
    # A payment of a day's last hour is awaited with the next day.
    assert match(DAY + timedelta(hours=3)) == {"days": 2, "differences": 1, "open differences": 1}
    assert differences() == [(checkout.pk, "not_there", True)]
    provider.store._objects[late["id"]] = late
    assert match(2 * DAY) == {"days": 1, "movements": 1, "closed": 1}


def test_a_payment_just_before_midnight_here_is_awaited_with_the_next_day(provider: FakeStripe) -> None:
    checkout = paid(provider)
    moved = movement(provider, checkout)
    provider.amend(moved["id"], created=int(midnight().timestamp()) + 60)
    assert "open differences" not in match(DAY + timedelta(hours=3))


@pytest.mark.parametrize(
    ("change", "kind"),
    [
        ({"amount": 499}, "amount"),
        ({"amount": 501}, "amount"),
        ({"amount": 50_000}, "amount"),
        ({"amount": -500}, "not_there"),
    ],
)
def test_an_amount_that_differs_is_a_difference(provider: FakeStripe, change: dict[str, int], kind: str) -> None:
    checkout = paid(provider)
    provider.amend(movement(provider, checkout)["id"], **change)
    match()
    assert differences() == [(checkout.pk, kind, True)]


def test_a_second_charge_for_the_same_payment_is_a_difference(provider: FakeStripe) -> None:
    checkout = paid(provider)
    provider.sell(500, metadata={"transaction_id": checkout.pk})
    match()
    assert differences() == [(checkout.pk, "amount", True)]


def test_a_second_charge_that_was_refunded_is_none(provider: FakeStripe) -> None:
    checkout = paid(provider)
    second = provider.sell(500, metadata={"transaction_id": checkout.pk})
    match()
    after_midnight(provider)
    provider.refund(second["id"])
    assert match() == {"closed": 1}


def test_another_currency_is_a_difference(provider: FakeStripe) -> None:
    transaction_id = sold_here(provider, currency="eur")
    match()
    assert differences() == [(transaction_id, "currency", True)]


def test_a_balance_in_another_currency_than_the_payment_is_none(provider: FakeStripe) -> None:
    checkout = paid(provider)
    provider.amend(movement(provider, checkout)["id"], currency="eur", amount=461)
    assert match() == {"days": 1, "movements": 1}


def test_a_refund_of_the_next_day_is_no_difference_of_this_one(provider: FakeStripe) -> None:
    checkout = paid(provider)
    after_midnight(provider)
    refund(provider, checkout, 200)
    converged(checkout)
    assert "open differences" not in match()
    assert "open differences" not in match(DAY + timedelta(hours=3))
    assert differences() == []


def test_days_are_read_once_they_are_closed_and_again_for_late_entries(provider: FakeStripe) -> None:
    paid(provider)
    times = [match(timedelta(hours=hours)).get("days", 0) for hours in (1, 2, 26, 47, 48, 72)]
    assert times == [0, 1, 1, 0, 1, 2]


def test_a_day_that_two_runs_match_stays_as_the_first_left_it(
    provider: FakeStripe, monkeypatch: pytest.MonkeyPatch
) -> None:
    paid(provider)
    listed = payment_matching.queries.unmatched
    monkeypatch.setattr(payment_matching.queries, "unmatched", lambda books: [*listed(books), *listed(books)])
    assert match() == {"days": 1, "movements": 1}
    assert MatchedDay.objects.get().matched_at == midnight() + timedelta(hours=3)


def test_a_run_stops_in_time_and_compares_only_when_every_day_was_read(
    provider: FakeStripe, monkeypatch: pytest.MonkeyPatch
) -> None:
    sold_here(provider)
    monkeypatch.setattr(payment_matching, "RUN_SECONDS", 0)
    assert match(DAY + timedelta(hours=3)) == {"days": 1, "movements": 1}
    assert MatchedDay.objects.get().matched_at is None
    monkeypatch.undo()
    assert match(DAY + timedelta(hours=3)) == {"days": 1, "differences": 1, "open differences": 1}


@pytest.mark.parametrize("preset", ["array", "drop-answer", "drop-request", "empty", "error", "forbidden", "garbage"])
@pytest.mark.parametrize("page", [1, 2])
def test_a_day_that_cannot_be_read_to_its_end_is_not_matched(
    provider: FakeStripe, monkeypatch: pytest.MonkeyPatch, preset: str, page: int
) -> None:
    monkeypatch.setattr(stripe_balance, "PAGE_SIZE", 1)
    paid(provider)
    paid(provider)
    if page == 2:
        provider.script(path=BALANCE)
    provider.script(preset, path=BALANCE, times=2)
    with pytest.raises(ProviderError):
        match()
    assert not MatchedDay.objects.exists()
    assert ProviderMovement.objects.count() < 2
    provider.api.scripts.clear()
    assert match() == {"days": 1, "movements": 2}


def test_a_rate_limit_ends_the_run_and_the_next_does_it(provider: FakeStripe) -> None:
    begun()
    provider.script("rate-limited", path=BALANCE)
    with pytest.raises(ProviderUnavailable):
        match()
    assert match() == {"days": 1}


def test_the_job_says_that_it_failed(provider: FakeStripe) -> None:
    provider.script("unauthorized", path=BALANCE)
    with pytest.raises(ProviderUnavailable):
        tasks.match_payments()
    assert tasks.match_payments()["days"] in (2, 3)  # yesterday is not closed in its first hours
    assert list(JobRun.objects.order_by("pk").values_list("outcome", flat=True)) == ["failed", "done"]


@pytest.mark.parametrize(
    "page",
    [
        {},
        {"data": []},
        {"data": None, "has_more": False},
        {"data": [], "has_more": True},
        {"data": [{"id": "txn_1", "source": None}], "has_more": True},
        {"data": [{"id": "txn_1"}], "has_more": False},
        {"data": [{"id": "txn_1", "source": {"object": "charge"}}], "has_more": False},
        {"data": [{"id": "txn_1", "source": 7}], "has_more": False},
    ],
)
def test_a_list_without_sense_is_no_end(page: dict[str, object]) -> None:
    with pytest.raises(ProviderUnavailable):
        list(stripe_balance.movements(lambda *arguments, **params: dict(page), dict, timezone.now(), timezone.now()))


def test_sources_that_come_as_ids_are_fetched(provider: FakeStripe) -> None:
    checkout = paid(provider)
    refund(provider, checkout, 100)
    provider.dispute(str(checkout.session_ref), amount=100)
    provider.pay_out(400)
    converged(checkout)
    provider.api.ignores_expand = True
    assert match() == {"days": 1, "movements": 3}


def test_a_charge_that_lost_its_metadata_is_known_by_its_intent(provider: FakeStripe) -> None:
    checkout = paid(provider)
    provider.amend(provider.charges[0]["id"], metadata={})
    assert match() == {"days": 1, "movements": 1}
    assert ProviderMovement.objects.get().transaction_id == checkout.pk


class TestClosings:
    """What an operator decides."""

    def resolve(self, reason: str = "Another environment's") -> bool:
        [found] = payment_differences.queries.open_differences()
        return payment_differences.resolve(found.pk, reason=reason, actor="did:op", now=timezone.now())

    def test_a_difference_that_an_operator_closed_stays_so(self, provider: FakeStripe) -> None:
        transaction_id = sold_here(provider)
        match()
        assert self.resolve()
        assert match(2 * DAY) == {"days": 2, "movements": 1}
        assert differences() == [(transaction_id, "unknown", False)]

    def test_it_is_another_once_the_amounts_change(self, provider: FakeStripe) -> None:
        transaction_id = sold_here(provider)
        match()
        self.resolve()
        after_midnight(provider)
        provider.refund(provider.charges[0]["id"], amount=100)
        match(2 * DAY)
        assert differences() == [(transaction_id, "unknown", False), (transaction_id, "unknown", True)]

    def test_one_that_changes_while_it_is_open_is_replaced(self, provider: FakeStripe) -> None:
        transaction_id = sold_here(provider)
        match()
        after_midnight(provider)
        provider.refund(provider.charges[0]["id"], amount=100)
        assert match() == {"open differences": 1}
        assert differences() == [(transaction_id, "unknown", False), (transaction_id, "unknown", True)]

    def test_it_is_closed_once(self, provider: FakeStripe) -> None:
        sold_here(provider)
        match()
        [found] = payment_differences.queries.open_differences()
        assert self.resolve()
        assert not payment_differences.resolve(found.pk, reason="r", actor="did:other", now=timezone.now())
        assert found.closing.reason == "Another environment's"


def test_a_charge_without_a_requested_payment_is_found(provider: FakeStripe) -> None:
    provider.sell(700, metadata={"transaction_id": new_id("txn")})
    assert match() == {"days": 3, "movements": 1, "differences": 1, "open differences": 1}


def test_without_a_provider_there_is_nothing_to_match(settings: Settings) -> None:
    settings.STRIPE_SECRET_KEY = ""
    assert payment_matching.match(now=timezone.now()) == {}
