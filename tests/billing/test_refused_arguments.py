"""What makes no sense is refused by the ledger's functions themselves, whoever calls them, and changes nothing."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.db import IntegrityError, connection, transaction
from django.utils import timezone
from psycopg.types.json import Jsonb

from billing.models import Call, CreditLot, Loss, StoredReplay, Takeover, Transfer, UsageHorizon, UsageRecord
from billing.operations import closings, ledger
from billing.operations.closings import OpenCall, TakeoverTerms
from billing.operations.statement import call
from billing.rules.quantities import QUANTITY_NAMES
from tests.factories import batches, payers
from tests.factories.billing import Purse, note_delivery, review, settle, used_for

ROWS = (CreditLot, Loss, Call, StoredReplay, Takeover, Transfer, UsageHorizon, UsageRecord)
NO_PRICE = 999_999


def ledger_rows() -> list[Any]:
    return [list(model.objects.order_by("pk").values()) for model in ROWS]


def assert_refused(purse: Purse, run: Callable[[], Any], words: str) -> None:
    """Check that a function says what it refuses, and that nothing changes."""
    before = purse.wallet, ledger_rows()
    with pytest.raises(IntegrityError, match=words), transaction.atomic():
        run()
    assert (purse.wallet, ledger_rows()) == before


@pytest.mark.parametrize("is_trial", [False, True])
@pytest.mark.parametrize(
    ("members", "words"),
    [
        ({"hold": -5, "max_cost_microusd": 10}, "a hold of -5 micro-USD"),
        ({"hold": -5, "max_cost_microusd": -5}, "a hold of -5 micro-USD"),
        ({"hold": 6, "max_cost_microusd": 5}, "a hold of 6 micro-USD, at most 5"),
        ({"hold": None, "max_cost_microusd": 5}, "a hold of <NULL> micro-USD"),
        ({"hold": 5, "max_cost_microusd": None}, "at most <NULL>"),
        ({"hold": 5, "price_version": NO_PRICE}, f"there is no price version {NO_PRICE}"),
        ({"hold": 5, "price_version": -1}, "there is no price version -1"),
    ],
)
def test_a_hold_of_less_than_nothing_or_at_no_price(
    purse: Purse, members: dict[str, Any], words: str, is_trial: bool
) -> None:
    purse.pay(100).call(1)
    assert_refused(purse, lambda: purse.reserve(is_trial=is_trial, **members), words)


@pytest.mark.parametrize("seconds", [None, -1])
def test_a_hold_without_a_time_to_come(purse: Purse, seconds: float | None) -> None:
    purse.pay(100)
    assert_refused(purse, lambda: purse.reserve(5, deadline_seconds=seconds), "for (<NULL>|-1) seconds")


@pytest.mark.parametrize(
    ("members", "words"), [({"hold": -5}, "a hold of -5"), ({"price_version": NO_PRICE}, "no price version")]
)
def test_a_call_that_the_gateway_opens_so(db: None, members: dict[str, Any], words: str) -> None:
    payer = payers.account()
    payer.purse.pay(100)
    opening = payer.opening(**{"hold": 5, **members})
    assert_refused(payer.purse, lambda: batches.run(opening), words)


@pytest.mark.parametrize("cost", [-1, -(10**17), None])
def test_a_charge_of_less_than_nothing(purse: Purse, cost: int | None) -> None:
    held = purse.pay(100).call(50)
    statement = call("billing_settle", tuple, usage_id=held, cost=cost, basis="operator", quantities=Jsonb({}))
    assert_refused(purse, statement.run, f"call {held} cannot cost ({cost}|<NULL>)")


@pytest.mark.parametrize("name", sorted(QUANTITY_NAMES))
def test_a_quantity_of_less_than_nothing(purse: Purse, name: str) -> None:
    held = purse.pay(100).call(50)
    others = dict.fromkeys(QUANTITY_NAMES, 7)
    assert_refused(purse, lambda: settle(held, 5, quantities={**others, name: -1}), "usage_record_is_sound")


@pytest.mark.parametrize("quantities", [None, [], "many", 5])
def test_quantities_that_are_none(purse: Purse, quantities: Any) -> None:
    held = purse.pay(100).call(50)
    given = None if quantities is None else Jsonb(quantities)
    statement = call("billing_settle", tuple, usage_id=held, cost=5, basis="operator", quantities=given)
    assert_refused(purse, statement.run, "cannot cost 5 micro-USD for")


@pytest.mark.parametrize("wait", [False, True])
def test_a_closing_that_says_so(purse: Purse, wait: bool) -> None:
    held = OpenCall(purse.owner, purse.pay(100).call(50), None)
    closing = closings.settle(held, cost_microusd=-1, basis="upstream", quantities={})
    assert_refused(purse, lambda: batches.run(closing.element, wait=wait), "cannot cost -1 micro-USD")


def test_a_takeover_at_no_price(purse: Purse) -> None:
    held = OpenCall(purse.owner, purse.pay(100).call(50), None, TakeoverTerms("other", NO_PRICE))
    closing = closings.settle(held, cost_microusd=3, basis="upstream", quantities=used_for(3))
    assert_refused(purse, lambda: batches.run(closing.element), "there is no price version of .*999999")


def test_a_review_without_a_reason(purse: Purse) -> None:
    held = purse.pay(100).call(50)
    assert_refused(purse, lambda: review(held, None), "cannot go to review for <NULL>")  # type: ignore[arg-type]


@pytest.mark.parametrize("evidence", [{"charge_microusd": -1}, {"output_tokens": -3, "charge_microusd": 2}])
def test_evidence_of_less_than_nothing(purse: Purse, evidence: dict[str, int]) -> None:
    held = purse.pay(100).call(50)
    assert_refused(purse, lambda: review(held, "lost", evidence=evidence), "with evidence .*-")
    assert_refused(purse, lambda: note_delivery(held, evidence), "cannot have delivered .*-")


@pytest.mark.parametrize(("amount", "source"), [(0, "one"), (-5, "one"), (None, "one"), (5, ""), (5, None)])
@pytest.mark.parametrize("function", ["billing_take_payment", "billing_take_back", "billing_give_back"])
def test_money_of_less_than_nothing_or_from_nowhere(
    purse: Purse, function: str, amount: int | None, source: str | None
) -> None:
    purse.pay(100)
    given: dict[str, Any] = {"amount": amount, "source": source}
    if function != "billing_take_back":
        given |= {"product": None, "lot_id": "crd_1"}
    if function != "billing_take_payment":
        given |= {"payment": "txn_1"}
    statement = call(function, tuple, owner_kind=purse.kind, owner_key=purse.key, **given)
    assert_refused(purse, statement.run, "(payment|refund) of (0|-5|5|<NULL>) micro-USD from source")


@pytest.mark.parametrize("amount", [0, -5])
def test_a_grant_of_less_than_nothing(purse: Purse, amount: int) -> None:
    purse.pay(100).grant(5)
    statement = ledger.grant_credit(
        lot_id="crd_1", owner=purse.owner, amount_microusd=amount, source_kind="test", source_key="one"
    )
    assert_refused(purse, statement.run, "credit_lot_is_sound")


@pytest.mark.parametrize("span", [timedelta(0), timedelta(days=-1), None])
def test_days_that_go_backwards(purse: Purse, span: timedelta | None) -> None:
    settle(purse.pay(100).call(5), 3)
    now = timezone.now() + timedelta(hours=1)
    roll_up = call("billing_roll_up_usage", tuple, ends_at=now, span=timedelta(days=1))
    roll_up.rows()
    later = call("billing_roll_up_usage", tuple, ends_at=now + timedelta(hours=1), span=span)
    assert_refused(purse, later.rows, "a span of")


def test_a_call_that_costs_nothing_is_none_of_these(purse: Purse) -> None:
    free = purse.call(0)
    assert settle(free, 0, quantities=dict.fromkeys(QUANTITY_NAMES, 0)).outcome == "settled"
    with connection.cursor() as cursor:
        cursor.execute("SELECT charge_microusd FROM billing_usage_record WHERE reservation_id = %s", [free])
        assert cursor.fetchall() == [(0,)]


@pytest.mark.parametrize("change", ["held_microusd = balance_microusd + 1", "held_microusd = -1", "debt_microusd = -1"])
def test_a_wallet_that_holds_or_owes_what_cannot_be(purse: Purse, change: str) -> None:
    purse.pay(100)
    with connection.cursor() as cursor:
        assert_refused(purse, lambda: cursor.execute(f"UPDATE billing_wallet SET {change}"), "wallet_is_sound")
