"""What a call cost is looked up for all of its attempts, and nothing that the gateway says ends the looking."""

import asyncio
import time
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from typing import Any, cast

import pytest

from account_gateway_client import GatewayError
from account_gateway_client.proxy import outcomes
from account_gateway_client.proxy.outcomes import Outcomes
from account_gateway_client.proxy.spending import CallName, Spending
from account_gateway_client.proxy.upstream import Upstream

MAXIMUM, CHARGE = 100, 42
CALL: CallName = ("chat.completions", "the key")
Read = Callable[[str], Awaitable[Any]]


def record(usage_id: str, status: str, charge: int = 0, call: CallName = CALL) -> dict[str, Any]:
    now = datetime.now(UTC).isoformat()
    told = {"usageId": usage_id, "status": status, "chargedMicrousd": charge, "createdAt": now}
    return {**told, "route": call[0], "idempotencyKey": call[1]}


class Records:
    """The gateway's usage records; `before` is awaited before one is read."""

    def __init__(self, *records: dict[str, Any]) -> None:
        self.records = {each["usageId"]: each for each in records}
        self.before: Read | None = None

    async def read(self, target: str) -> Any:
        found: Any = {"data": list(self.records.values())}
        usage_id = target.removeprefix("/v1/usage").partition("?")[0].strip("/")
        if usage_id:
            if usage_id not in self.records:
                raise GatewayError(404, "not_found")
            found = self.records[usage_id]
        if self.before:
            await self.before(target)
        return found


def leave(spending: Spending, usage_id: str | None = None, *, lost: bool = False, call: CallName = CALL) -> None:
    """Begin a call, and end it without knowing what it cost."""
    spending.begin(call, MAXIMUM)
    spending.doubt(call, lost=lost)
    spending.end(call, usage_id)


def look(spending: Spending, records: Records) -> None:
    asyncio.run(Outcomes(cast("Upstream", records), spending)._look())


def test_a_later_attempt_is_not_settled_by_the_record_of_an_earlier_one() -> None:
    spending = Spending()
    leave(spending, "use_1")
    leave(spending, lost=True)
    look(spending, Records(record("use_1", "released"), record("use_2", "reconciling")))
    assert (spending.spent, spending.reserved) == (0, MAXIMUM)
    look(spending, Records(record("use_1", "released"), record("use_2", "settled", CHARGE)))
    assert (spending.spent, spending.reserved) == (CHARGE, 0)


@pytest.mark.parametrize("usage_id", ["use_1", None])
def test_an_attempt_that_ends_meanwhile_is_not_settled_by_what_was_read_before(usage_id: str | None) -> None:
    spending, records = Spending(), Records(record("use_1", "released"))
    leave(spending, usage_id)

    async def try_again(_target: str) -> None:
        leave(spending)

    records.before = try_again
    look(spending, records)
    assert (spending.spent, spending.reserved) == (0, MAXIMUM)


def test_a_record_that_cannot_be_read_keeps_no_other_from_being_read() -> None:
    spending = Spending()
    leave(spending, "use_gone", call=("messages", "one"))
    leave(spending, "use_2")
    leave(spending, call=("messages", "three"))
    three = record("use_3", "settled", CHARGE, ("messages", "three"))
    look(spending, Records(record("use_2", "settled", CHARGE), three))
    assert (spending.spent, spending.reserved) == (2 * CHARGE, MAXIMUM)


def test_a_clock_that_is_set_does_not_say_that_a_call_was_never_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    spending = Spending()
    leave(spending, lost=True)
    now = time.time()
    monkeypatch.setattr(time, "time", lambda: now + 10 * outcomes.NEVER_TAKEN_SECONDS)
    look(spending, Records())
    assert spending.reserved == MAXIMUM


@pytest.mark.parametrize("strange", [None, [], {"data": None}, {"data": [{}]}, {"data": [None]}])
def test_a_strange_answer_does_not_end_the_looking(strange: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(outcomes, "FIRST_PAUSE_SECONDS", 0.01)
    spending, records = Spending(), Records(record("use_1", "settled", CHARGE))
    leave(spending)
    answers = [strange]

    async def read(target: str) -> Any:
        return answers.pop() if answers else await Records.read(records, target)

    async def watch() -> None:
        looking = Outcomes(cast("Upstream", records), spending)
        watching = asyncio.create_task(looking.watch())
        await looking.settled(20.0)
        watching.cancel()

    monkeypatch.setattr(records, "read", read)
    asyncio.run(watch())
    assert (spending.spent, spending.reserved) == (CHARGE, 0)


def test_a_look_that_gets_no_answer_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(outcomes, "LOOK_SECONDS", 0.05)
    monkeypatch.setattr(outcomes, "FIRST_PAUSE_SECONDS", 0.01)
    spending, records = Spending(), Records(record("use_1", "settled", CHARGE))
    leave(spending)

    async def hang(_target: str) -> None:
        records.before = None
        await asyncio.Event().wait()

    async def watch() -> None:
        looking = Outcomes(cast("Upstream", records), spending)
        watching = asyncio.create_task(looking.watch())
        await looking.settled(20.0)
        watching.cancel()

    records.before = hang
    asyncio.run(watch())
    assert spending.reserved == 0
