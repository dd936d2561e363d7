"""A call is charged once, at most its hold."""

from datetime import timedelta

import pytest
from django.db import IntegrityError, transaction
from django.utils import timezone

from billing.models import Call, CreditLot, Loss, Transfer, UsageRecord
from billing.operations import ledger
from billing.queries.wallets import WalletBalance
from gateway.core.contract.ids import new_id
from tests.factories.billing import Purse, release, review, settle, state


def transfers(source: str) -> list[tuple[str, str, int]]:
    rows = Transfer.objects.filter(source=source).order_by("kind", "seq")
    return [(row.debit_account.partition(":")[0], row.credit_account, row.amount_microusd) for row in rows]


def test_charges_the_cost_and_gives_the_rest_back(purse: Purse) -> None:
    call = purse.pay(1000).call(400)
    assert settle(call, 123) == ("settled", 123, 400, 0)
    assert purse.wallet == WalletBalance(877, 0, 0, 877, 0, ())
    assert transfers(call) == [("wallet", "platform:revenue", 123)]
    assert state(call) == "settled"


def test_records_what_was_used(purse: Purse) -> None:
    call = purse.pay(1000).call(400)
    settle(call, 7, quantities={"input_tokens": 46, "cached_input_tokens": 0, "seconds": 2}, deployment="primary/small")
    used = UsageRecord.objects.get(pk=call)
    assert (used.input_tokens, used.cached_input_tokens, used.output_tokens, used.seconds) == (46, 0, None, 2)
    assert (used.charge_microusd, used.basis) == (7, "upstream")
    assert Call.objects.get(pk=call).deployment == "primary/small"


def test_a_repeated_settlement_gives_the_first_ones_charge(purse: Purse) -> None:
    call = purse.pay(1000).call(400)
    settle(call, 123)
    before = purse.wallet
    assert settle(call, 399) == ("already", 123, 400, 0)
    assert purse.wallet == before
    assert transfers(call) == [("wallet", "platform:revenue", 123)]


def test_what_exceeds_the_hold_is_the_operators_loss(purse: Purse) -> None:
    call = purse.pay(1000).call(400)
    assert settle(call, 1000) == ("settled", 400, 400, 600)
    assert purse.wallet.balance_microusd == 600
    assert list(Loss.objects.values_list("call", "kind", "amount_microusd")) == [(call, "overrun", 600)]
    assert UsageRecord.objects.get(pk=call).charge_microusd == 400


def test_an_absurd_cost_is_a_loss_like_any_other(purse: Purse) -> None:
    call = purse.pay(10).call(10)
    assert settle(call, 10**40) == ("settled", 10, 10, 10**18 - 10)


def test_charging_nothing_moves_nothing(purse: Purse) -> None:
    call = purse.pay(1000).call(400)
    assert settle(call, 0) == ("settled", 0, 400, 0)
    assert transfers(call) == []
    assert purse.wallet == WalletBalance(1000, 0, 0, 1000, 0, ())
    assert UsageRecord.objects.get(pk=call).charge_microusd == 0


def test_burns_credits_in_the_order_in_which_they_were_held(purse: Purse) -> None:
    soon = purse.grant(50, expires_at=timezone.now() + timedelta(days=1))
    late = purse.grant(50)
    call = purse.pay(100).call(150)
    assert settle(call, 70).charge_microusd == 70
    assert transfers(call) == [("lot", "platform:revenue", 50), ("lot", "platform:revenue", 20)]
    spent = Transfer.objects.filter(kind="charge").order_by("seq").values_list("debit_account", "amount_microusd")
    assert list(spent) == [(f"lot:{soon}", 50), (f"lot:{late}", 20)]
    assert purse.wallet.balance_microusd == 100
    assert [(c.credit_id, c.remaining_microusd) for c in purse.wallet.credits] == [(late, 30)]
    assert CreditLot.objects.get(pk=soon).closed_at is not None


def test_burns_credits_then_cash(purse: Purse) -> None:
    purse.grant(50)
    call = purse.pay(100).call(150)
    assert settle(call, 120).charge_microusd == 120
    assert sorted(transfers(call)) == [("lot", "platform:revenue", 50), ("wallet", "platform:revenue", 70)]
    assert purse.wallet == WalletBalance(30, 0, 0, 30, 0, ())


def test_a_credit_that_expired_meanwhile_still_pays(purse: Purse) -> None:
    expiry = timezone.now() + timedelta(hours=1)
    purse.grant(100, expires_at=expiry)
    call = purse.call(80)
    after = expiry + timedelta(seconds=1)
    ledger.sweep_lots(now=after).rows()
    assert settle(call, 60, now=after).charge_microusd == 60
    assert [tuple(row) for row in ledger.sweep_lots(now=after).rows()] == [(purse_lot(purse), 20)]
    assert purse.wallet == WalletBalance(0, 0, 0, 0, 0, ())


def purse_lot(purse: Purse) -> str:
    return CreditLot.objects.get(wallet__owner_key=purse.key).pk


def test_a_released_call_cannot_be_charged(purse: Purse) -> None:
    call = purse.pay(100).call(50)
    release(call)
    assert settle(call, 10) == ("released", None, 50, 0)
    assert purse.wallet == WalletBalance(100, 0, 0, 100, 0, ())
    assert not UsageRecord.objects.exists()


def test_an_unknown_call_is_reported_as_unknown(purse: Purse) -> None:
    assert settle(new_id("use"), 10) == ("unknown", None, None, None)


def test_settles_a_call_in_review(purse: Purse) -> None:
    call = purse.pay(100).call(50)
    assert review(call)
    assert settle(call, 20, expected=["dispatched"]).outcome == "conflict"
    assert settle(call, 20).outcome == "settled"


@pytest.mark.parametrize("fields", [{"cost": -1}, {"cost": 1, "basis": "guess"}])
def test_the_database_refuses_what_is_no_charge(purse: Purse, fields: dict[str, object]) -> None:
    call = purse.pay(100).call(50)
    with pytest.raises(IntegrityError), transaction.atomic():
        settle(call, **fields)  # type: ignore[arg-type]
    assert state(call) == "dispatched"
    assert purse.wallet.held_microusd == 50
