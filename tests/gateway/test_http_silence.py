"""How long an upstream may be silent within a response, by a clock of the test's own."""

import asyncio
from collections.abc import Callable, Iterator
from typing import Any, cast

import aiohttp
import pytest

from gateway.core.outbound.aiohttp_internals import Handler
from tests.inference.adapters.wire import chunk, chunked_head

LIMIT_SECONDS = 30.0
PIECE_SECONDS = 20.0


class Timer:
    """A call at a time, unless it is cancelled."""

    def __init__(self, at: float, call: Callable[[], None]) -> None:
        self.at = at
        self.call: Callable[[], None] | None = call

    def cancel(self) -> None:
        self.call = None


class Clock:
    """The part of an event loop that a connection uses for its timers."""

    def __init__(self) -> None:
        self.now = 0.0
        self.timers: list[Timer] = []

    def time(self) -> float:
        return self.now

    def call_later(self, seconds: float, call: Callable[[], None]) -> Timer:
        timer = Timer(self.now + seconds, call)
        self.timers.append(timer)
        return timer

    def pass_seconds(self, seconds: float) -> None:
        """Advance the clock, and call what is due."""
        end = self.now + seconds
        while due := self._due(end):
            self.now, call = due.at, due.call
            due.cancel()
            assert call is not None
            call()
        self.now = end

    def _due(self, end: float) -> Timer | None:
        waiting = [timer for timer in self.timers if timer.call is not None and timer.at <= end]
        return min(waiting, key=lambda timer: timer.at, default=None)


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def handler(clock: Clock) -> Iterator[Handler]:
    made = Handler(cast("asyncio.AbstractEventLoop", clock))
    made.transport = cast("Any", Pipe())
    made.expect(LIMIT_SECONDS, {})
    made.begin_silence()
    yield made
    made.abort()


class Pipe:
    """A connection that carries nothing."""

    def __getattr__(self, name: str) -> Callable[..., None]:
        return lambda *_: None


def fed(handler: Handler) -> asyncio.StreamReader:
    """Begin a response, and return its body."""
    handler.data_received(chunked_head())
    return cast("asyncio.StreamReader", handler._buffer[0][0][1])


def test_pieces_that_keep_coming_are_not_timed_out(handler: Handler, clock: Clock) -> None:
    body = fed(handler)
    for _ in range(10 * int(LIMIT_SECONDS)):
        clock.pass_seconds(1.0)
        handler.data_received(chunk(b"piece"))
    assert body.exception() is None
    assert len(clock.timers) < 20, "a piece sets no timer"


def test_silence_is_limited_from_the_last_piece_on(handler: Handler, clock: Clock) -> None:
    body = fed(handler)
    for _ in range(3):
        clock.pass_seconds(PIECE_SECONDS)
        handler.data_received(chunk(b"piece"))
    clock.pass_seconds(LIMIT_SECONDS - 0.001)
    assert body.exception() is None
    clock.pass_seconds(0.002)
    assert isinstance(body.exception(), aiohttp.SocketTimeoutError)


def test_another_limit_counts_from_the_next_piece_on(handler: Handler, clock: Clock) -> None:
    body = fed(handler)
    handler.limit_silence(2.0)
    clock.pass_seconds(PIECE_SECONDS)
    assert body.exception() is None
    handler.data_received(chunk(b"piece"))
    clock.pass_seconds(1.999)
    assert body.exception() is None
    clock.pass_seconds(0.002)
    assert isinstance(body.exception(), aiohttp.SocketTimeoutError)


def test_a_paused_body_is_not_silent_and_is_read_on_when_it_resumes(handler: Handler, clock: Clock) -> None:
    body = fed(handler)
    handler.pause_reading()
    clock.pass_seconds(10 * LIMIT_SECONDS)
    assert body.exception() is None
    handler.resume_reading()
    handler.data_received(chunk(b"piece"))
    clock.pass_seconds(LIMIT_SECONDS - 0.001)
    assert body.exception() is None
    clock.pass_seconds(0.002)
    assert isinstance(body.exception(), aiohttp.SocketTimeoutError)
