"""Large bodies share a bounded memory, and nobody else waits for them."""

import asyncio
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import httpx
import pytest

from gateway.core.http.lean.memory import parsed_bytes
from gateway.core.runtime.budget import ByteBudget
from tests.inference.calls.test_disconnects import raw_request
from tests.server.crowd import crowd
from tests.server.test_connections import ask
from tests.support.concurrency import eventually
from tests.support.stage import Caller, Stage, chat

REFUSED_AFTER_SECONDS = 0.2


def large(alias: str, size_bytes: int = 300_000) -> dict[str, Any]:
    return chat(alias, user="x" * size_bytes)


def outcome_of(answer: httpx.Response) -> tuple[int, str | None]:
    return answer.status_code, None if answer.status_code == 200 else answer.json()["error"]["code"]


@pytest.fixture
def world(stage: Stage, settings: Any) -> tuple[Stage, str, Caller]:
    settings.LARGE_BODIES_MAX_BYTES, settings.LARGE_BODY_WAIT_SECONDS = 900_000, 60.0
    settings.BODY_IDLE_SECONDS = 600.0  # nobody's body is given up meanwhile
    alias = stage.model(max_output_tokens=20, context_tokens=1_000)
    return stage, alias, stage.caller()


def test_a_large_body_that_does_not_arrive_holds_up_only_large_ones(world: Any, settings: Any) -> None:
    stage, alias, caller = world
    begun = raw_request(caller, large(alias, 250_000))[:100_000]
    with crowd(stage.origin, [begun]):
        assert outcome_of(caller.post(chat(alias))) == (200, None)
        settings.LARGE_BODY_WAIT_SECONDS = REFUSED_AFTER_SECONDS
        refused = caller.post(large(alias))
        assert outcome_of(refused) == (503, "not_ready")
        assert refused.headers["retry-after"] == "5"
        settings.LARGE_BODY_WAIT_SECONDS = 60.0
    assert outcome_of(caller.post(large(alias))) == (200, None)
    assert [call.state for call in caller.calls] == ["settled", "settled"]


def test_a_length_behind_zeros_is_weighed_as_well(world: Any, settings: Any) -> None:
    stage, alias, caller = world
    with crowd(stage.origin, [raw_request(caller, large(alias, 250_000))[:100_000]]):
        assert outcome_of(caller.post(chat(alias))) == (200, None)  # the other one has its share by now
        settings.LARGE_BODY_WAIT_SECONDS = REFUSED_AFTER_SECONDS
        request = raw_request(caller, large(alias)).replace(b"Content-Length: ", b"Content-Length: " + b"0" * 30)
        assert ask(stage, request).startswith(b"HTTP/1.1 503 ")


def test_what_a_body_takes_is_given_back_when_its_answer_is_out(world: Any) -> None:
    _, alias, caller = world
    for _ in range(4):
        assert outcome_of(caller.post(large(alias))) == (200, None)
    assert outcome_of(caller.post(None, content=b'{"a":' + b"[" * 300_000)) == (400, "invalid_json")
    assert outcome_of(caller.post(large("nothing"))) == (404, "model_not_found")
    assert outcome_of(caller.post(large(alias))) == (200, None)


def test_large_calls_under_way_share_what_there_is(world: Any, settings: Any) -> None:
    """Each is weighed with 600 kB, the half of a second that is sent on among them, and keeps it until it is answered."""
    stage, alias, caller = world
    settings.LARGE_BODY_WAIT_SECONDS = REFUSED_AFTER_SECONDS
    with ThreadPoolExecutor() as threads, stage.upstream.holding():
        sent = [threads.submit(caller.post, large(alias)) for _ in range(3)]
        eventually(lambda: [call.done() for call in sent].count(True) == 2)
    answers = sorted((outcome_of(call.result()) for call in sent), key=str)
    assert answers == [(200, None), (503, "not_ready"), (503, "not_ready")]


@pytest.mark.parametrize(
    ("body", "least_bytes"),
    [
        (b'{"a":"' + b"x" * 1_000_000 + b'"}', 1_000_000),
        ('{"a":"\U0001f600' + "x" * 1_000_000 + '"}', 4_000_000),
        (b'{"a":"\\ud83d\\ude00' + b"x" * 1_000_000 + b'"}', 4_000_000),
        (b'{"a":[' + b"[]," * 99_000 + b"[]]}", 80 * 99_000),
    ],
    ids=["ASCII", "wide", "wide by escape", "many values"],
)
def test_a_body_is_weighed_by_what_it_becomes(body: Any, least_bytes: int) -> None:
    sent = body if isinstance(body, bytes) else body.encode()
    assert least_bytes < parsed_bytes(sent) < 8 * least_bytes


async def test_a_budget_lends_in_order() -> None:
    budget, served = ByteBudget(lambda: 10), list[str]()

    async def borrow(name: str, size_bytes: int) -> None:
        await budget.take(size_bytes, 5)
        served.append(name)

    await budget.take(8, 5)
    waiting = [asyncio.create_task(borrow(name, size)) for name, size in (("first", 5), ("second", 1), ("third", 9))]
    await asyncio.sleep(0)
    assert not budget.try_take(1)  # others were here before
    budget.release(8)
    await asyncio.gather(*waiting[:2])
    assert (served, budget.lent_bytes) == (["first", "second"], 6)
    budget.release(6)
    await waiting[2]
    assert budget.lent_bytes == 9


async def test_a_share_beyond_the_budget_is_lent_only_by_itself() -> None:
    budget = ByteBudget(lambda: 10)
    assert budget.try_take(50)
    assert not budget.try_take(1)
    budget.release(50)
    assert budget.try_take(10)


async def test_whoever_gives_up_leaves_nothing_lent() -> None:
    budget = ByteBudget(lambda: 10)
    await budget.take(10, 5)
    with pytest.raises(TimeoutError):
        await budget.take(1, 0)
    cancelled = asyncio.create_task(budget.take(10, 5))
    await asyncio.sleep(0)
    budget.release(10)  # lent to the waiting task
    cancelled.cancel()  # which is cancelled before it learns of it
    with pytest.raises(asyncio.CancelledError):
        await cancelled
    assert budget.lent_bytes == 0
    assert budget.try_take(10)


async def test_a_share_is_lent_past_those_who_gave_up_at_the_same_moment() -> None:
    budget = ByteBudget(lambda: 10)
    await budget.take(10, 5)
    gave_up, waits = [asyncio.create_task(budget.take(10, 5)) for _ in range(2)]
    await asyncio.sleep(0)
    gave_up.cancel()
    budget.release(10)  # before the cancelled task has run
    await waits
    with pytest.raises(asyncio.CancelledError):
        await gave_up
    assert budget.lent_bytes == 10
    budget.release(10)
    assert budget.try_take(10)


async def test_whoever_gives_up_lets_a_smaller_share_behind_it_pass() -> None:
    budget = ByteBudget(lambda: 10)
    await budget.take(5, 5)
    gave_up, waits = (asyncio.create_task(budget.take(size, 5)) for size in (10, 5))
    await asyncio.sleep(0)
    gave_up.cancel()
    await asyncio.wait_for(waits, 1)
    assert budget.lent_bytes == 10
