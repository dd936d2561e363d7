"""What one account may take of a process's fetching at one time: the rest is left to the others."""

import asyncio
import socket
from collections.abc import AsyncIterator, Callable, Hashable
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from contextvars import ContextVar
from typing import Any
from weakref import WeakValueDictionary

from gateway.core.api.budget import ByteBudget
from gateway.core.api.per_loop import PerLoop

FETCHES_MAX = 4
ARRIVING_MAX_BYTES = 16 * 1024 * 1024
LOOK_UPS_MAX = 2

PLACE_SECONDS = 30.0
"""The longest that a fetch waits for others of its account."""

LOOK_UP_SECONDS = 5.0

LookUp = Callable[..., list[Any]]

# Threads of their own: a name server that a stranger chose may take its time, and no thread can be stopped.
_threads = ThreadPoolExecutor(max_workers=32, thread_name_prefix="public-names")

_account: ContextVar[Hashable] = ContextVar("account", default=None)


class Share:
    """One account's part, of one event loop."""

    def __init__(self) -> None:
        self._places = asyncio.Semaphore(FETCHES_MAX)
        self._look_ups = asyncio.Semaphore(LOOK_UPS_MAX)
        self.arriving = ByteBudget(lambda: ARRIVING_MAX_BYTES)

    @asynccontextmanager
    async def place(self) -> AsyncIterator[None]:
        """Wait for a place, and keep it. Raises TimeoutError."""
        async with asyncio.timeout(PLACE_SECONDS):
            await self._places.acquire()
        try:
            yield
        finally:
            self._places.release()

    async def look_up(self, how: LookUp, host: str, port: int, family: int) -> list[Any]:
        """Look a name up in a thread, which counts until it has ended, waited for or not. Raises TimeoutError."""
        async with asyncio.timeout(LOOK_UP_SECONDS):
            await self._look_ups.acquire()
            found = asyncio.get_running_loop().run_in_executor(_threads, how, host, port, family, socket.SOCK_STREAM)
            found.add_done_callback(self._looked_up)
            return await asyncio.shield(found)

    def _looked_up(self, found: "asyncio.Future[list[Any]]") -> None:
        self._look_ups.release()
        found.exception()  # seen, also where nobody waits any more


_shares: PerLoop[WeakValueDictionary[Hashable, Share]] = PerLoop(WeakValueDictionary)


class on_behalf_of:  # noqa: N801 - used as a statement
    """Counts what is fetched meanwhile as this account's."""

    def __init__(self, account: Hashable) -> None:
        self._account = account

    def __enter__(self) -> None:
        self._token = _account.set(self._account)

    def __exit__(self, *exc: object) -> None:
        _account.reset(self._token)


def current_share() -> Share:
    """Return the share of the account that something is fetched for; what is nobody's has one of its own."""
    return _shares.get().setdefault(_account.get(), Share())
