"""What calls hold of a payment that is taken back pays for it once it is free; a won dispute brings all of it back."""

from itertools import permutations

import pytest

from billing.models import Transfer
from billing.operations import ledger
from billing.tasks import reconcile_payments
from tests.factories.billing import Purse, release, settle
from tests.factories.payments import take_back, top_up


def money(purse: Purse) -> tuple[int, int, int]:
    """Return balance, credits and debt."""
    wallet = purse.wallet
    return wallet.balance_microusd, wallet.credits_microusd, wallet.debt_microusd


def test_released_credit_repays_at_once(purse: Purse) -> None:
    payment = top_up(purse.owner, 500, "studio")
    call = purse.call(400, product="studio")
    take_back(payment, 500)
    assert money(purse) == (0, 400, 400)
    release(call)
    assert money(purse) == (0, 0, 0)
    posted = Transfer.objects.filter(kind="repayment").values_list("source", "amount_microusd")
    assert list(posted) == [(f"{payment.id}/repaid", 400)]


def test_what_a_settlement_leaves_repays_and_the_rest_is_owed(purse: Purse) -> None:
    payment = top_up(purse.owner, 500, "studio")
    call = purse.call(400, product="studio")
    take_back(payment, 500)
    settle(call, 300)
    assert money(purse) == (0, 0, 300)


def test_only_what_is_owed_is_repaid(purse: Purse) -> None:
    payment = top_up(purse.owner, 500, "studio")
    call = purse.call(400, product="studio")
    take_back(payment, 200)
    assert money(purse) == (0, 400, 100)
    assert purse.reserve(1, product="studio").outcome == "insufficient_funds"
    release(call)
    assert money(purse) == (0, 300, 0)
    assert purse.reserve(300, product="studio").outcome == "reserved"


def test_several_calls_repay_one_after_the_other(purse: Purse) -> None:
    payment = top_up(purse.owner, 500, "studio")
    calls = [purse.call(100, product="studio") for _ in range(5)]
    take_back(payment, 300)
    owed = []
    for call in calls:
        settle(call, 10)
        owed.append(money(purse))
    assert owed == [(0, 400, 210), (0, 300, 120), (0, 200, 30), (0, 160, 0), (0, 150, 0)]


def test_another_payments_credit_is_left_alone(purse: Purse) -> None:
    first, second = top_up(purse.owner, 500, "studio"), top_up(purse.owner, 500, "studio")
    call = purse.call(700, product="studio")
    take_back(first, 500)
    assert money(purse) == (0, 1000, 500)
    settle(call, 600)
    assert money(purse) == (0, 400, 500)
    reconcile_payments()
    assert money(purse) == (0, 400, 500)
    take_back(second, 100)
    assert money(purse) == (0, 300, 500)


def test_two_payments_repay_each_its_own(purse: Purse) -> None:
    first, second = top_up(purse.owner, 500, "studio"), top_up(purse.owner, 500, "studio")
    call = purse.call(1000, product="studio")
    take_back(first, 500)
    take_back(second, 200)
    assert money(purse) == (0, 1000, 700)
    release(call)
    assert money(purse) == (0, 300, 0)


@pytest.mark.parametrize("order", permutations(["refund", "release", "payment"]))
def test_whatever_comes_first_the_same_is_left(purse: Purse, order: tuple[str, ...]) -> None:
    payment = top_up(purse.owner, 500, "studio")
    call = purse.call(400, product="studio")
    steps = {
        "refund": lambda: take_back(payment, 450),
        "release": lambda: release(call),
        "payment": lambda: top_up(purse.owner, 70),
    }
    for step in order:
        steps[step]()
    reconcile_payments()
    balance, credits, debt = money(purse)
    assert (balance + credits, debt) == (120, 0)


def test_a_debt_that_comes_later_is_repaid_by_the_job(purse: Purse) -> None:
    general, payment = top_up(purse.owner, 200), top_up(purse.owner, 500, "studio")
    call = purse.call(400, product="studio")
    take_back(payment, 500)
    assert money(purse) == (0, 400, 200)
    release(call)
    assert money(purse) == (0, 200, 0)
    take_back(general, 200)
    assert money(purse) == (0, 200, 200)
    reconcile_payments()
    assert money(purse) == (0, 0, 0)
    assert ledger.repay_debts().rows() == []


def test_a_dispute_that_is_won_returns_what_was_repaid_to_the_product(purse: Purse) -> None:
    payment = top_up(purse.owner, 500, "studio")
    call = purse.call(400, product="studio")
    take_back(payment, 500)
    release(call)
    take_back(payment, 0)
    assert money(purse) == (0, 500, 0)
    assert {credit.product for credit in purse.wallet.credits} == {"studio"}
    assert purse.reserve(500, product="studio").outcome == "reserved"


def test_a_dispute_that_is_won_repays_what_was_spent_meanwhile(purse: Purse) -> None:
    payment = top_up(purse.owner, 500, "studio")
    call = purse.call(400, product="studio")
    take_back(payment, 500)
    settle(call, 300)
    take_back(payment, 100)
    assert money(purse) == (0, 100, 0)
    take_back(payment, 0)
    assert money(purse) == (0, 200, 0)


def test_a_dispute_that_is_won_while_the_call_is_open(purse: Purse) -> None:
    payment = top_up(purse.owner, 500, "studio")
    call = purse.call(400, product="studio")
    take_back(payment, 500)
    take_back(payment, 0)
    assert money(purse) == (0, 500, 0)
    settle(call, 400)
    assert money(purse) == (0, 100, 0)
