"""Limits one account's share of a process's concurrent fetches, so that the others are not starved."""

import asyncio
import socket
from collections.abc import AsyncIterator, Callable, Hashable
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from typing import Any
from weakref import WeakValueDictionary

from gateway.core.runtime.budget import ByteBudget
from gateway.core.runtime.per_loop import PerLoop
from gateway.core.runtime.turns import current_account

FETCHES_MAX = 4
ARRIVING_MAX_BYTES = 16 * 1024 * 1024
LOOK_UPS_MAX = 2

PLACE_SECONDS = 30.0
"""The longest that a fetch waits for other fetches of its account."""

LOOK_UP_SECONDS = 5.0

LookUp = Callable[..., list[Any]]

# A separate thread pool, because a name server under an attacker's control may be slow, and a thread cannot be stopped.
_threads = ThreadPoolExecutor(max_workers=32, thread_name_prefix="public-names")


class Share:
    """One account's share, in one event loop."""

    def __init__(self) -> None:
        self._places = asyncio.Semaphore(FETCHES_MAX)
        self._look_ups = asyncio.Semaphore(LOOK_UPS_MAX)
        self.arriving = ByteBudget(lambda: ARRIVING_MAX_BYTES)

    @asynccontextmanager
    async def place(self) -> AsyncIterator[None]:
        """Wait for a place, and hold it within the context. Raises TimeoutError."""
        async with asyncio.timeout(PLACE_SECONDS):
            await self._places.acquire()
        try:
            yield
        finally:
            self._places.release()

    async def look_up(self, how: LookUp, host: str, port: int, family: int) -> list[Any]:
        """Look up a name in a thread. The look-up counts until the thread ends, even after a timeout. Raises
        TimeoutError."""
        async with asyncio.timeout(LOOK_UP_SECONDS):
            await self._look_ups.acquire()
            try:
                found = asyncio.get_running_loop().run_in_executor(
                    _threads, how, host, port, family, socket.SOCK_STREAM
                )
            except BaseException:  # the system has no thread left
                self._look_ups.release()
                raise
            found.add_done_callback(self._looked_up)
            return await asyncio.shield(found)

    def _looked_up(self, found: "asyncio.Future[list[Any]]") -> None:
        self._look_ups.release()
        found.exception()  # retrieved, so that asyncio does not log it after a timeout


_shares: PerLoop[WeakValueDictionary[Hashable, Share]] = PerLoop(WeakValueDictionary)


def current_share() -> Share:
    """Return the share of the current account. Fetches without an account have a common share."""
    return _shares.get().setdefault(current_account(), Share())
