"""A memory budget that requests share, so that together they stay within the available memory."""

import asyncio
from collections import deque
from collections.abc import Callable


class ByteBudget:
    """Bytes that are lent and returned, first come, first served. For one event loop; no call blocks it.

    A share larger than the whole budget is lent only while nothing else is, so that no request waits forever.
    """

    def __init__(self, limit_bytes: Callable[[], int]) -> None:
        self._limit_bytes = limit_bytes
        self._waiting: deque[tuple[int, asyncio.Future[None]]] = deque()
        self.lent_bytes = 0

    def try_take(self, size_bytes: int) -> bool:
        """Borrow a share if it is available at once, and return whether it was."""
        if self._waiting or not self._has(size_bytes):
            return False
        self.lent_bytes += size_bytes
        return True

    async def take(self, size_bytes: int, wait_seconds: float) -> None:
        """Borrow a share, or raise TimeoutError."""
        if self.try_take(size_bytes):
            return
        granted = asyncio.get_running_loop().create_future()
        self._waiting.append((size_bytes, granted))
        try:
            async with asyncio.timeout(wait_seconds):
                await granted
        except BaseException:
            if granted.cancel() or granted.cancelled():
                self._lend()  # to those behind it
            else:
                self.release(size_bytes)  # it was lent at the moment when the wait ended
            raise

    def release(self, size_bytes: int) -> None:
        """Return a share; the request that has waited longest gets it."""
        self.lent_bytes -= size_bytes
        self._lend()

    def _has(self, size_bytes: int) -> bool:
        return self.lent_bytes == 0 or self.lent_bytes + size_bytes <= self._limit_bytes()

    def _lend(self) -> None:
        while self._waiting:
            size_bytes, granted = self._waiting[0]
            if not granted.cancelled():  # one that gave up may still stand here, as its task has yet to run
                if not self._has(size_bytes):
                    return
                self.lent_bytes += size_bytes
                granted.set_result(None)
            self._waiting.popleft()
