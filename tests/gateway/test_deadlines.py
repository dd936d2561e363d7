"""What is overdue is called back, what was dropped is not, and one timer serves all of a loop."""

import asyncio
from collections.abc import Callable
from contextvars import Context, ContextVar
from typing import Any

import pytest
import uvloop

from gateway.core.api import deadlines as module
from gateway.core.api.deadlines import Deadlines


class Timers:
    """Stands in for a loop's clock: time passes when the test says so."""

    def __init__(self) -> None:
        self.now = 100.0
        self.set: list[tuple[float, Callable[[], None]]] = []
        self.soon: list[Callable[[], None]] = []

    def time(self) -> float:
        return self.now

    def call_later(self, seconds: float, call: Callable[[], None], *, context: Context) -> None:
        assert not list(context)
        self.set.append((self.now + seconds, call))

    def call_soon(self, call: Callable[..., None], *arguments: Any) -> None:
        self.soon.append(lambda: call(*arguments))

    def pass_time(self, seconds: float, *, turn: bool = True) -> None:
        self.now += seconds
        due, self.set = [call for at, call in self.set if at <= self.now], [it for it in self.set if it[0] > self.now]
        for call in due:
            call()
        if turn:
            self.turn()

    def turn(self) -> None:
        """Run what was to be called soon."""
        soon, self.soon = self.soon, []
        for call in soon:
            call()


@pytest.fixture
def timers(monkeypatch: pytest.MonkeyPatch) -> Timers:
    clock = Timers()
    monkeypatch.setattr(module.asyncio, "get_running_loop", lambda: clock)
    return clock


def test_only_what_is_overdue_is_called_and_only_once(timers: Timers) -> None:
    called: list[Any] = []
    deadlines = Deadlines()
    for seconds in (1.0, 2.0):
        deadlines.set(seconds, lambda seconds=seconds: called.append(seconds))  # type: ignore[misc]
    timers.pass_time(0.9)
    assert called == []
    timers.pass_time(0.6)
    assert called == [1.0]
    timers.pass_time(5.0)
    assert called == [1.0, 2.0]


def test_what_was_dropped_is_not_called(timers: Timers) -> None:
    called: list[str] = []
    deadlines = Deadlines()
    deadlines.set(1.0, lambda: called.append("dropped")).drop()
    timers.pass_time(5.0)
    assert called == []


def test_what_is_dropped_while_it_is_about_to_be_called_is_not_called(timers: Timers) -> None:
    called: list[str] = []
    deadlines = Deadlines()
    deadline = deadlines.set(1.0, lambda: called.append("dropped"))
    timers.pass_time(5.0, turn=False)
    deadline.drop()
    timers.turn()
    assert called == []


def test_a_thousand_deadlines_take_one_timer_and_none_once_they_are_over(timers: Timers) -> None:
    deadlines = Deadlines()
    pending = [deadlines.set(60.0, lambda: None) for _ in range(1000)]
    assert len(timers.set) == 1
    timers.pass_time(1.0)
    assert len(timers.set) == 1
    for deadline in pending:
        deadline.drop()
    timers.pass_time(1.0)
    assert timers.set == []
    deadlines.set(1.0, lambda: None)
    assert len(timers.set) == 1


@pytest.mark.parametrize("loop", [asyncio.new_event_loop, uvloop.new_event_loop], ids=["asyncio", "uvloop"])
def test_a_callback_runs_in_no_requests_context(loop: Any) -> None:
    request: ContextVar[str] = ContextVar("request", default="none")

    async def scene() -> str:
        seen: asyncio.Future[str] = asyncio.get_running_loop().create_future()
        request.set("mine")
        Deadlines().set(0.0, lambda: seen.set_result(request.get()))
        return await seen

    with asyncio.Runner(loop_factory=loop) as runner:
        assert runner.run(scene()) == "none"
