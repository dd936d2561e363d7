"""The calls that a process closed last, compared with a database that begins a new history."""

import asyncio
import logging
import tracemalloc
from collections.abc import Iterator
from typing import Any

import pytest

from billing.models import LostReceipt
from billing.operations import closings, lost_receipts
from billing.operations.closings import Closing, OpenCall
from billing.operations.ledger import CloseOutcome, Release, Replay, Settlement
from billing.queries import audit
from gateway.core.database import close_pool
from inference.metering import recent
from tests.factories.billing import Purse, review, settle, state, used_for
from tests.support.concurrency import eventually_async

pytestmark = pytest.mark.django_db(transaction=True)

CHARGED = Settlement(CloseOutcome.SETTLED, 30, 100, 0)


@pytest.fixture(autouse=True)
def forget(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(recent, "LATE_SECONDS", 0.0)
    recent._closed.clear()
    recent._lost.clear()
    yield
    recent._closed.clear()
    recent._lost.clear()


def settlement(purse: Purse, call: str) -> Closing[Any]:
    reference = OpenCall(purse.owner, call, None)
    return closings.settle(reference, cost_microusd=30, basis="upstream", quantities=used_for(30))


def to_review(purse: Purse, call: str) -> Closing[Any]:
    evidence = {"output_tokens": 5, "charge_microusd": 3}
    return closings.review(OpenCall(purse.owner, call, None), reason="upstream_timeout", evidence=evidence)


def compare() -> None:
    async def scene() -> None:
        try:
            await recent.compare()
        finally:
            await close_pool()

    asyncio.run(scene())


def critical(caplog: pytest.LogCaptureFixture) -> list[str]:
    return [record.getMessage() for record in caplog.records if record.levelno == logging.CRITICAL]


def test_a_closing_that_the_database_lost_is_made_again(caplog: pytest.LogCaptureFixture) -> None:
    purse = Purse().pay(1000)
    open_call, reviewed, released, left = (purse.call(100) for _ in range(4))
    review(reviewed)
    for call in (open_call, reviewed):
        recent.remember(settlement(purse, call), CHARGED)
    released_closing = closings.release(OpenCall(purse.owner, released, None), resolution="upstream_refused")
    recent.remember(released_closing, Release(CloseOutcome.RELEASED, 100))
    recent.remember(to_review(purse, left), CloseOutcome.REVIEW)
    compare()
    compare()
    assert [state(call) for call in (open_call, reviewed, released, left)] == [
        "settled",
        "settled",
        "released",
        "review",
    ]
    assert (purse.wallet.balance_microusd, purse.wallet.held_microusd) == (940, 100)
    assert critical(caplog) == []
    again = [record.getMessage().split(":")[0] for record in caplog.records if "closed again" in record.getMessage()]
    assert again == [open_call, reviewed, released, left]
    assert audit.findings() == []


def test_each_call_that_the_database_does_not_know_is_named_with_its_amount(caplog: pytest.LogCaptureFixture) -> None:
    purse = Purse().pay(10_000)
    known = [purse.call(100) for _ in range(3)]
    for call in known:
        settle(call, 30)
        recent.remember(settlement(purse, call), CHARGED)
    for number in range(recent.CHUNK + 5):
        recent.remember(settlement(purse, f"use_lost_{number}"), CHARGED)
    recent.remember(to_review(purse, "use_left"), CloseOutcome.REVIEW)
    nothing = closings.release(OpenCall(purse.owner, "use_released", None), resolution="not_sent")
    recent.remember(nothing, Release(CloseOutcome.RELEASED, 100))
    compare()
    lines = critical(caplog)
    who = f"the database lost this call of account {purse.key}"
    assert len(lines) == recent.CHUNK + 6
    assert set(lines) == {f"use_lost_{number}: {who}, charged 30 micro-USD" for number in range(recent.CHUNK + 5)} | {
        f"use_left: {who}, left to review; delivered: {{'output_tokens': 5, 'charge_microusd': 3}}"
    }


def test_each_lost_call_is_recorded_once_for_operators() -> None:
    purse = Purse().pay(10_000)
    for number in range(recent.CHUNK + 5):
        recent.remember(settlement(purse, f"use_lost_{number}"), CHARGED)
    recent.remember(to_review(purse, "use_left"), CloseOutcome.REVIEW)
    compare()
    compare()
    charged = LostReceipt.objects.exclude(charge_microusd=None)
    assert set(charged.values_list("usage_id", flat=True)) == {
        f"use_lost_{number}" for number in range(recent.CHUNK + 5)
    }
    assert set(charged.values_list("owner_kind", "owner_key", "charge_microusd", "outcome")) == {
        ("account", purse.key, 30, None)
    }
    left = LostReceipt.objects.get(charge_microusd=None)
    assert (left.usage_id, left.delivered) == ("use_left", {"output_tokens": 5, "charge_microusd": 3})
    assert not recent._lost


def test_a_lost_call_is_recorded_once_the_database_takes_it(monkeypatch: pytest.MonkeyPatch) -> None:
    record, tried = lost_receipts.record, list[int]()

    async def fail_twice(lost: Any) -> None:
        tried.append(len(lost))
        if len(tried) < 3:
            raise OSError("away")
        await record(lost)

    monkeypatch.setattr(lost_receipts, "record", fail_twice)
    monkeypatch.setattr(recent, "PAUSES_SECONDS", (0.0,))
    recent.remember(settlement(Purse(), "use_1"), CHARGED)
    compare()
    assert tried == [1, 1, 1]
    assert [(one.usage_id, one.charge_microusd) for one in LostReceipt.objects.all()] == [("use_1", 30)]


def test_a_call_that_the_former_primary_confirms_during_the_look_is_named_too(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    purse, look = Purse().pay(1000), recent._look_for
    known = purse.call(100)
    settle(known, 30)
    recent.remember(settlement(purse, "use_before"), CHARGED)

    async def look_while_two_are_confirmed(left: Any) -> None:
        await look(left)
        monkeypatch.setattr(recent, "_look_for", look)
        for call in (known, "use_meanwhile"):
            recent.remember(settlement(purse, call), CHARGED)

    monkeypatch.setattr(recent, "_look_for", look_while_two_are_confirmed)
    compare()
    assert [line.split(":")[0] for line in critical(caplog)] == ["use_before", "use_meanwhile"]


def test_a_call_that_was_left_to_review_and_still_is_was_not_lost(caplog: pytest.LogCaptureFixture) -> None:
    purse = Purse().pay(1000)
    left, given_up = purse.call(100), purse.call(100)
    review(left)
    review(given_up, "deadline_passed")
    for call in (left, given_up):
        recent.remember(to_review(purse, call), CloseOutcome.REVIEW)
    compare()
    assert (state(left), state(given_up)) == ("review", "review")
    [line] = [record.getMessage() for record in caplog.records if "closed again" in record.getMessage()]
    assert line == f"{given_up}: the database had lost its closing; closed again: review"


def test_a_call_that_cannot_be_closed_again_keeps_no_other_waiting(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    purse = Purse().pay(1000)
    calls = [purse.call(100) for _ in range(3)]
    for call in calls:
        recent.remember(settlement(purse, call), CHARGED)
    states: list[list[str]] = []
    close_again = recent._close_again

    async def refuse_the_first_twice(closed: recent.Closed) -> None:
        if closed.usage_id == calls[0] and len(states) < 2:
            states.append(await asyncio.to_thread(lambda: [state(call) for call in calls]))
            raise ValueError("refused")
        await close_again(closed)

    monkeypatch.setattr(recent, "PAUSES_SECONDS", (0.0,))
    monkeypatch.setattr(recent, "_close_again", refuse_the_first_twice)
    compare()
    assert states == [["dispatched"] * 3, ["dispatched", "settled", "settled"]]
    assert [state(call) for call in calls] == ["settled"] * 3


def test_a_receipt_whose_call_was_released_instead_is_named(caplog: pytest.LogCaptureFixture) -> None:
    from tests.factories.billing import release

    purse = Purse().pay(1000)
    call = purse.call(100)
    release(call)
    recent.remember(settlement(purse, call), CHARGED)
    compare()
    assert critical(caplog) == [f"{call}: the database lost this call of account {purse.key}, charged 30 micro-USD"]


def test_a_call_whose_hold_is_gone_when_it_is_closed_is_named_at_once(caplog: pytest.LogCaptureFixture) -> None:
    purse = Purse()

    async def close_both() -> None:
        recent.remember(settlement(purse, "use_1"), Settlement(CloseOutcome.UNKNOWN, None, None, None))
        recent.remember(to_review(purse, "use_2"), CloseOutcome.UNKNOWN)
        await eventually_async(LostReceipt.objects.count)
        await close_pool()

    asyncio.run(close_both())
    assert set(LostReceipt.objects.values_list("usage_id", flat=True)) == {"use_1", "use_2"}
    assert [line.split(":")[0] for line in critical(caplog)] == ["use_1", "use_2"]
    assert "charged 30 micro-USD" in critical(caplog)[0]
    assert not recent._closed


def test_old_calls_are_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    purse = Purse()
    monkeypatch.setattr(recent, "REMEMBERED_SECONDS", -1.0)
    for number in range(3):
        recent.remember(settlement(purse, f"use_{number}"), CHARGED)
    assert [closed.usage_id for closed in recent._closed] == ["use_2"]


def test_a_remembered_call_takes_less_than_a_kilobyte() -> None:
    tracemalloc.start()
    try:
        for _ in range(1000):
            replay = Replay(200, [("x-name", "x" * 5_000)], b"")
            call = OpenCall(("account", "alice"), "use_1", "dep_1")
            closing = closings.settle(call, cost_microusd=30, basis="upstream", quantities=used_for(30), replay=replay)
            recent.remember(closing, CHARGED)
        kept, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert kept < 1000 * 1024
