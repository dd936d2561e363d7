"""A call that costs nothing gives its whole hold back and frees its key."""

from datetime import timedelta

import pytest
from django.utils import timezone

from billing.models import Call, CreditLot, Loss, Transfer
from billing.operations import ledger, reviews
from billing.queries.wallets import WalletBalance
from gateway.core.contract.ids import new_id
from tests.factories.billing import Purse, release, review, settle, state


def test_gives_cash_and_credits_back(purse: Purse) -> None:
    lot = purse.grant(50)
    before = purse.pay(100).wallet
    call = purse.call(120)
    assert release(call, resolution="rejected") == ("released", 120)
    assert purse.wallet == before
    assert CreditLot.objects.get(pk=lot).held_microusd == 0
    assert not Transfer.objects.filter(kind="charge").exists()
    assert Call.objects.get(pk=call).resolution == "rejected"


def test_releases_once(purse: Purse) -> None:
    call = purse.pay(100).call(50)
    release(call)
    assert release(call) == ("already", 50)
    assert purse.wallet == WalletBalance(100, 0, 0, 100, 0, ())


def test_a_settled_call_stays_settled(purse: Purse) -> None:
    call = purse.pay(100).call(50)
    settle(call, 10)
    assert release(call) == ("settled", 50)
    assert purse.wallet.balance_microusd == 90


def test_a_call_in_review_is_released_only_by_who_may(purse: Purse) -> None:
    call = purse.pay(100).call(50)
    review(call)
    assert release(call).outcome == "conflict"
    assert state(call) == "review"
    assert release(call, expected=["review"]).outcome == "released"


def test_an_unknown_call_is_reported_as_unknown(purse: Purse) -> None:
    assert release(new_id("use")) == ("unknown", None)


def test_what_is_given_back_to_an_expired_credit_is_swept(purse: Purse) -> None:
    expiry = timezone.now() + timedelta(hours=1)
    lot = purse.grant(100, expires_at=expiry)
    call = purse.call(80)
    after = expiry + timedelta(seconds=1)
    assert [tuple(row) for row in ledger.sweep_lots(now=after).rows()] == [(lot, 20)]
    release(call, now=after)
    assert [tuple(row) for row in ledger.sweep_lots(now=after).rows()] == [(lot, 80)]
    assert ledger.sweep_lots(now=after).rows() == []
    posted = Transfer.objects.filter(kind="expiry").order_by("seq").values_list("source", "seq", "amount_microusd")
    assert list(posted) == [(lot, 0, 20), (lot, 1, 80)]


def test_books_a_loss_on_request(purse: Purse) -> None:
    call = purse.pay(100).call(50)
    review(call)
    release(call, expected=["review"], book_loss=True)
    assert list(Loss.objects.values_list("call", "kind", "amount_microusd")) == [(call, "unresolved", 50)]


@pytest.mark.parametrize("reason", ["deadline_passed", "process_died"])
def test_a_call_that_was_given_up_is_still_released_by_its_process_once(purse: Purse, reason: str) -> None:
    call = purse.pay(100).call(50, key="k")
    review(call, reason)
    assert release(call, resolution="not_sent") == ("released", 50)
    assert release(call, resolution="not_sent") == ("already", 50)
    assert purse.wallet == WalletBalance(100, 0, 0, 100, 0, ())
    assert purse.reserve(10, "k").outcome == "reserved"


def test_a_call_that_the_operator_charged_meanwhile_stays_charged(purse: Purse) -> None:
    call = purse.pay(100).call(50)
    review(call, "deadline_passed")
    assert reviews.charge(call, cost_microusd=7)
    assert release(call, resolution="not_sent") == ("settled", 50)
    assert purse.wallet.balance_microusd == 93
