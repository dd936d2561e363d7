"""Threads in which accounts take turns: one account's work waits for its own, not the others'."""

import asyncio
import threading
from collections.abc import Iterator

import pytest

from gateway.core.runtime.offload import offload
from gateway.core.runtime.turns import Turns, acting_for
from tests.support.concurrency import PATIENCE_SECONDS, eventually_async


class Work:
    """Work that lasts until it is let go, and notes its order."""

    def __init__(self) -> None:
        self.begun: list[str] = []
        self.may_end = threading.Event()

    def do(self, name: str) -> str:
        """Work."""
        self.begun.append(name)
        assert self.may_end.wait(PATIENCE_SECONDS)
        return name


@pytest.fixture
def work() -> Iterator[Work]:
    found = Work()
    yield found
    found.may_end.set()


def begin(turns: Turns, work: Work, account: str | None, name: str) -> "asyncio.Task[str]":
    with acting_for(account):
        return asyncio.create_task(turns.run(work.do, name))


async def test_another_account_waits_for_one_piece_of_work_of_each(work: Work) -> None:
    turns = Turns("test")
    tasks = [begin(turns, work, "alice", f"a{number}") for number in range(4)]
    await eventually_async(lambda: work.begun == ["a0"])
    tasks += [begin(turns, work, account, account) for account in ("bob", "carol")]
    await asyncio.sleep(0)
    work.may_end.set()
    assert await asyncio.gather(*tasks) == ["a0", "a1", "a2", "a3", "bob", "carol"]
    assert work.begun == ["a0", "bob", "carol", "a1", "a2", "a3"]


async def test_large_bodies_take_turns(work: Work) -> None:
    async def send(account: str, name: str) -> str:
        with acting_for(account):
            return await offload(work.do, name)

    tasks = [asyncio.create_task(send("alice", f"a{number}")) for number in range(2)]
    await eventually_async(lambda: work.begun == ["a0"])
    tasks.append(asyncio.create_task(send("bob", "b")))
    await asyncio.sleep(0)
    work.may_end.set()
    await asyncio.gather(*tasks)
    assert work.begun == ["a0", "b", "a1"]


async def test_cancelled_work_is_withdrawn_and_gives_its_turn_back(work: Work) -> None:
    turns = Turns("test")
    running = begin(turns, work, "alice", "running")
    await eventually_async(lambda: work.begun == ["running"])
    waiting = begin(turns, work, "bob", "waiting")
    after = begin(turns, work, "bob", "after")
    await asyncio.sleep(0)
    waiting.cancel()
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    again = begin(turns, work, "alice", "again")
    await asyncio.sleep(0)
    assert work.begun == ["running"]  # its thread works until it ends, and the account has no second turn
    work.may_end.set()
    assert list(await asyncio.gather(after, again)) == ["after", "again"]
    assert "waiting" not in work.begun


async def test_an_error_is_raised_and_gives_the_turn_back() -> None:
    turns = Turns("test")
    for _ in range(2):
        with pytest.raises(ZeroDivisionError):
            await turns.run(lambda: 1 // 0)


async def test_a_thread_that_cannot_be_started_gives_the_turn_back(work: Work, monkeypatch: pytest.MonkeyPatch) -> None:
    turns = Turns("test")
    first = begin(turns, work, "one", "first")
    await eventually_async(lambda: work.begun == ["first"])
    failed, last = begin(turns, work, "one", "failed"), begin(turns, work, "one", "last")
    submit = turns._thread.submit

    def refuse(*arguments: object) -> None:
        monkeypatch.setattr(turns._thread, "submit", submit)
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(turns._thread, "submit", refuse)
    work.may_end.set()
    assert await first == "first"
    with pytest.raises(RuntimeError, match="can't start new thread"):
        await failed
    assert await asyncio.wait_for(last, PATIENCE_SECONDS) == "last"
