"""A hold is placed whole or not at all."""

from datetime import timedelta
from hashlib import sha256
from typing import Any

import pytest
from django.db import IntegrityError, transaction
from django.utils import timezone

from billing.models import Call, Wallet
from billing.operations import budgets
from billing.queries.wallets import WalletBalance
from billing.rules.budgets import Subject
from tests.factories.billing import Purse, price_version, settle, state

NOTHING = WalletBalance(0, 0, 0, 0, 0, ())


def allocations(usage_id: str | None) -> list[tuple[str, int]]:
    call = Call.objects.get(pk=usage_id)
    return list(zip(call.lot_ids or (), call.lot_amounts_microusd or (), strict=True))


def test_holds_cash(purse: Purse) -> None:
    held = purse.pay(1000).reserve(400)
    assert tuple(held) == ("reserved", held.usage_id, None, None, None)
    assert purse.wallet == WalletBalance(1000, 0, 400, 600, 0, ())
    call = Call.objects.get(pk=held.usage_id)
    assert (call.state, call.hold_microusd, call.cash_held_microusd, call.charge_microusd) == (
        "dispatched",
        400,
        400,
        None,
    )
    assert (call.org_id, call.replayable, call.idempotency_key) == (None, False, None)


def test_keeps_what_the_caller_tells_of_the_call(purse: Purse) -> None:
    held = purse.pay(10).reserve(
        5,
        max_cost_microusd=9,
        membership_id="mem_1",
        product="studio",
        client_id="https://app.example",
        request_id="req_1",
        key="k",
        body_sha256=sha256(b"{ }").hexdigest(),
    )
    call = Call.objects.get(pk=held.usage_id)
    assert (call.membership_id, call.product, call.client_id) == ("mem_1", "studio", "https://app.example")
    assert (call.request_id, call.max_cost_microusd, call.price_version_id) == ("req_1", 9, price_version())
    assert (call.idempotency_key, call.replayable, len(bytes(call.request_digest or b""))) == ("k", True, 32)
    assert bytes(call.body_sha256 or b"") == sha256(b"{ }").digest()


def test_knows_the_organization_by_its_wallet(org: Purse) -> None:
    held = org.pay(10).reserve(5)
    assert Call.objects.get(pk=held.usage_id).org_id == "org_acme"


def test_holds_the_last_micro_dollar_and_no_more(purse: Purse) -> None:
    purse.pay(1000)
    assert purse.reserve(1001).outcome == "insufficient_funds"
    assert purse.reserve(1000).outcome == "reserved"
    refused = purse.reserve(1)
    assert (refused.outcome, refused.available_microusd, refused.budget_id) == ("insufficient_funds", 0, None)


def test_opens_a_wallet_for_whoever_has_none(purse: Purse) -> None:
    assert purse.wallet == NOTHING
    assert purse.reserve(1).available_microusd == 0
    assert Wallet.objects.get(owner_key=purse.key).owner_kind == "account"
    assert purse.wallet == NOTHING


def test_refusing_changes_nothing(purse: Purse) -> None:
    purse.pay(100).grant(50)
    before = purse.wallet
    refused = purse.reserve(151)
    assert (refused.outcome, refused.available_microusd) == ("insufficient_funds", 150)
    assert purse.wallet == before
    assert not Call.objects.exists()


def test_holds_nothing_for_a_call_that_cannot_cost_anything(purse: Purse) -> None:
    held = purse.reserve(0, max_cost_microusd=1)
    assert held.outcome == "reserved"
    assert settle(held.usage_id or "", 0) == ("settled", 0, 0, 0)


def test_takes_credits_before_cash_scoped_first_then_sooner_expiry_then_older(purse: Purse) -> None:
    now = timezone.now()
    general_for_ever = purse.grant(10)
    scoped_for_ever = purse.grant(20, product="studio")
    general_late = purse.grant(30, expires_at=now + timedelta(days=9))
    general_soon = purse.grant(40, expires_at=now + timedelta(days=2))
    scoped_soon = purse.grant(50, product="studio", expires_at=now + timedelta(days=5))
    other_product = purse.grant(60, product="courier")
    general_for_ever_too = purse.grant(70)
    purse.pay(1000)
    held = purse.reserve(225, product="studio")
    assert allocations(held.usage_id) == [
        (scoped_soon, 50),
        (scoped_for_ever, 20),
        (general_soon, 40),
        (general_late, 30),
        (general_for_ever, 10),
        (general_for_ever_too, 70),
    ]
    assert Call.objects.get(pk=held.usage_id).cash_held_microusd == 5
    assert all(credit.remaining_microusd for credit in purse.wallet.credits if credit.credit_id == other_product)


def test_takes_no_more_of_a_credit_than_is_needed(purse: Purse) -> None:
    lot = purse.pay(100).grant(50)
    first, second = purse.reserve(30), purse.reserve(30)
    assert allocations(first.usage_id) == [(lot, 30)]
    assert allocations(second.usage_id) == [(lot, 20)]
    assert purse.wallet.held_microusd == 60
    assert purse.wallet.available_microusd == 90


def test_scoped_credits_pay_only_for_their_product(purse: Purse) -> None:
    purse.grant(100, product="studio")
    assert purse.reserve(1).available_microusd == 0
    assert purse.reserve(1, product="courier").outcome == "insufficient_funds"
    assert purse.reserve(100, product="studio").outcome == "reserved"


def test_an_expired_credit_is_not_spendable_from_that_instant(purse: Purse) -> None:
    expiry = timezone.now() + timedelta(minutes=1)
    purse.grant(100, expires_at=expiry)
    assert purse.reserve(10, now=expiry - timedelta(microseconds=1)).outcome == "reserved"
    refused = purse.reserve(10, now=expiry)
    assert (refused.outcome, refused.available_microusd) == ("insufficient_funds", 0)


def test_a_debt_blocks_whatever_money_there_is(purse: Purse) -> None:
    purse.pay(100)
    call = purse.call(60)
    assert purse.refund(100) == 60
    purse.grant(500)
    refused = purse.reserve(1)
    assert (refused.outcome, refused.available_microusd) == ("insufficient_funds", 0)
    assert purse.wallet.available_microusd == 0
    assert settle(call, 60).charge_microusd == 60
    purse.pay(60)
    assert purse.reserve(1).outcome == "reserved"


@pytest.mark.parametrize("fields", [{"max_cost_microusd": 4}, {"hold": -1, "max_cost_microusd": 5}])
def test_the_database_refuses_a_hold_beyond_its_maximum(purse: Purse, fields: dict[str, Any]) -> None:
    purse.pay(100)
    with pytest.raises(IntegrityError), transaction.atomic():
        purse.reserve(fields.pop("hold", 5), **fields)
    assert purse.wallet.held_microusd == 0


def test_counts_as_sent_and_has_a_deadline(purse: Purse) -> None:
    now = timezone.now()
    held = purse.pay(10).reserve(5, now=now, deadline_seconds=30)
    call = Call.objects.get(pk=held.usage_id)
    assert (call.state, call.dispatched_at, call.deadline_at) == ("dispatched", now, now + timedelta(seconds=30))


def test_a_trial_says_what_a_hold_would_and_leaves_nothing(purse: Purse) -> None:
    purse.pay(100).grant(50, product="studio")
    before = purse.wallet
    assert purse.reserve(150, "k", product="studio", is_trial=True) == ("fresh", None, None, None, None)
    refused = purse.reserve(101, is_trial=True)
    assert (refused.outcome, refused.available_microusd) == ("insufficient_funds", 100)
    assert (purse.wallet, Call.objects.count()) == (before, 0)
    call = purse.call(10, "k")
    assert purse.reserve(10, "k", is_trial=True) == ("in_progress", call, None, None, None)
    assert purse.reserve(10, "k", b"other", is_trial=True).outcome == "key_reused"


def test_a_trial_counts_against_budgets(org: Purse) -> None:
    org.pay(100)
    budget = budgets.put(Subject(org.owner), limit_microusd=9, now=timezone.now())
    assert org.reserve(10, is_trial=True).budget_id == budget.id
    assert org.reserve(9, is_trial=True).outcome == "fresh"


def test_the_database_refuses_a_call_without_a_deadline(purse: Purse) -> None:
    purse.pay(10)
    with pytest.raises(IntegrityError), transaction.atomic():
        purse.reserve(5, deadline_seconds=None)
    assert purse.wallet.held_microusd == 0


@pytest.mark.parametrize("former", ["reserved", "sent", ""])
def test_the_database_refuses_a_state_that_is_none(purse: Purse, former: str) -> None:
    call = purse.pay(10).call(5)
    with pytest.raises(IntegrityError), transaction.atomic():
        Call.objects.filter(pk=call).update(state=former)
    assert state(call) == "dispatched"
