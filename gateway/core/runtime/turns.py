"""Threads in which the accounts of a process take turns, so that one account's work does not delay all others'."""

import asyncio
from collections.abc import Callable, Hashable
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from contextvars import ContextVar
from functools import partial
from typing import ParamSpec, TypeVar
from weakref import WeakValueDictionary

from gateway.core.runtime.per_loop import PerLoop

Result = TypeVar("Result")
Arguments = ParamSpec("Arguments")

_account: ContextVar[Hashable] = ContextVar("account", default=None)


class acting_for:  # noqa: N801 - used as a statement
    """Counts all fetches and all work in threads within the context as this account's."""

    def __init__(self, account: Hashable) -> None:
        self._account = account

    def __enter__(self) -> None:
        self._token = _account.set(self._account)

    def __exit__(self, *exc: object) -> None:
        _account.reset(self._token)


def current_account() -> Hashable:
    """Return the account that is being served; None outside of `acting_for`."""
    return _account.get()


class Turns:
    """One thread. Of each account it has at most one piece of work, running or next in line; more of it waits its turn.

    So work waits for at most one piece of each other account, however much another account has sent. Work without an
    account counts as one account's.
    """

    def __init__(self, name: str) -> None:
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix=name)
        self._turns: PerLoop[WeakValueDictionary[Hashable, asyncio.Semaphore]] = PerLoop(WeakValueDictionary)

    async def run(
        self, function: Callable[Arguments, Result], *args: Arguments.args, **kwargs: Arguments.kwargs
    ) -> Result:
        """Return what a function returns, or raise what it raises, run in the thread.

        Cancelled, it withdraws work that has not begun. Work that has begun keeps its account's turn until it ends.
        """
        turn = self._turns.get().setdefault(current_account(), asyncio.Semaphore(1))
        await turn.acquire()
        try:
            work = self._thread.submit(partial(function, *args, **kwargs))
        except BaseException:  # the system has no thread left
            turn.release()
            raise
        work.add_done_callback(partial(_give_back, asyncio.get_running_loop(), turn))
        return await asyncio.wrap_future(work)


def _give_back(loop: asyncio.AbstractEventLoop, turn: asyncio.Semaphore, work: "Future[object]") -> None:
    with suppress(RuntimeError):  # the loop is closed, and with it everything that waits
        loop.call_soon_threadsafe(turn.release)
