"""The load generator sends what it was given, once, and times what came back."""

import asyncio
from collections.abc import Iterator
from urllib.parse import urlsplit

import pytest

from bench.lanes import body, render_request
from bench.load import Target, closed_loop
from tests.support.upstream import FakeUpstream, closed_port


@pytest.fixture
def upstream() -> Iterator[FakeUpstream]:
    with FakeUpstream() as running:
        yield running


def target(upstream: FakeUpstream) -> Target:
    parts = urlsplit(upstream.origin)
    return Target(str(parts.hostname), int(parts.port or 0))


def requests(count: int, model: str = "small-1", *, stream: bool = False) -> list[bytes]:
    return [render_request(body(model, stream=stream), {"Idempotency-Key": f"k-{index}"}) for index in range(count)]


async def test_every_request_is_sent_once(upstream: FakeUpstream) -> None:
    run = await closed_loop(target(upstream), requests(40), concurrency=8, seconds=10)
    assert (len(run.seconds), run.failed) == (40, 0)
    assert sorted(entry.idempotency_key or "" for entry in upstream.ledger) == sorted(f"k-{n}" for n in range(40))


async def test_it_stops_when_its_time_is_over(upstream: FakeUpstream) -> None:
    run = await closed_loop(target(upstream), requests(1000, "small-1?delay_ms=50"), concurrency=2, seconds=0.2)
    assert 0.2 <= run.elapsed_seconds < 20, "all of them take 25 s"
    assert 2 <= len(run.seconds) <= 12
    assert run.latency(50) >= 0.045  # a loop's timers are exact to a millisecond


async def test_the_first_byte_of_a_stream_is_timed_apart_from_its_end(upstream: FakeUpstream) -> None:
    slow = requests(2, "small-1?tokens=4&token_delay_ms=400", stream=True)
    run = await closed_loop(target(upstream), slow, concurrency=1, seconds=10)
    assert run.latency(50) >= 1.2
    assert run.first_byte(50) < run.latency(50) - 0.6


async def test_refusals_and_broken_connections_are_failures_that_stop_nothing(upstream: FakeUpstream) -> None:
    upstream.script("overloaded")
    upstream.script("cut-before-headers")
    run = await closed_loop(target(upstream), requests(4), concurrency=1, seconds=10)
    assert (len(run.seconds), run.failed) == (2, 2)
    assert run.failures[0].startswith("503 ")
    assert "ConnectionError" in run.failures[1]


async def test_an_answer_that_never_comes_is_a_failure(upstream: FakeUpstream) -> None:
    slow = [*requests(1), *requests(3, "small-1?delay_ms=30000")]
    # The first one is answered in time, and another sent after it, even on a busy machine.
    run = await closed_loop(target(upstream), slow, concurrency=2, seconds=3, patience_seconds=0.3)
    assert (len(run.seconds), run.failed) == (1, 2)
    assert run.elapsed_seconds < 20
    assert run.failures[0] == "no answer 0.3 s after the end"


async def test_nobody_there_is_an_error() -> None:
    with pytest.raises(ConnectionRefusedError):
        await closed_loop(Target("127.0.0.1", closed_port()), requests(1), concurrency=1, seconds=1)


async def test_the_generator_is_not_the_bottleneck(upstream: FakeUpstream) -> None:
    run = await closed_loop(target(upstream), requests(500), concurrency=16, seconds=120)
    assert (len(run.seconds), run.failed) == (500, 0)
    assert asyncio.get_running_loop().is_running()
    # Far below a gateway's, with the upstream's thread: 200 requests for each second of processor time. How many come in a
    # second of the clock depends on what else the machine does.
    assert 0 < run.cpu_seconds < 500 * 0.005
