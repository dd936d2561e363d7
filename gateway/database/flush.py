"""One flush for everybody who waits for the disk.

A transaction that commits with `synchronous_commit = off` is done before it is on disk. PostgreSQL writes its log in
order, so any later commit that waits for the disk makes it durable too. That commit is made here, one after another for
as long as somebody waits, each for all who began to wait before it.
"""

import asyncio
from weakref import WeakKeyDictionary

from gateway.api.background import spawn
from gateway.database.connection import Query
from gateway.database.pool import ledger_connection

# A transaction that changes nothing but has something to commit.
FLUSH = Query("SELECT pg_logical_emit_message(true, 'gateway', '')", {}, lambda row: None)


class Flusher:
    """The flushes of one event loop."""

    def __init__(self) -> None:
        self._waiting: list[asyncio.Future[None]] = []
        self._is_running = False

    async def flushed(self) -> None:
        """Wait until everything that was committed before this call is on disk. Raises what kept it from that."""
        waiter = asyncio.get_running_loop().create_future()
        self._waiting.append(waiter)
        if not self._is_running:
            self._is_running = True
            spawn(self._run())
        await waiter

    async def _run(self) -> None:
        try:
            while self._waiting:
                batch, self._waiting = self._waiting, []
                await self._flush(batch)
        finally:
            self._is_running = False

    async def _flush(self, batch: list["asyncio.Future[None]"]) -> None:
        try:
            async with ledger_connection() as connection:
                await connection.run(FLUSH)
        except Exception as error:  # noqa: BLE001 - raised where it is waited for
            for waiter in batch:
                if not waiter.done():
                    waiter.set_exception(error)
        else:
            for waiter in batch:
                if not waiter.done():
                    waiter.set_result(None)


async def flushed() -> None:
    """Wait until everything that was committed before this call is on disk. Raises what kept it from that."""
    loop = asyncio.get_running_loop()
    flusher = _flushers.get(loop)
    if flusher is None:
        flusher = _flushers[loop] = Flusher()
    await flusher.flushed()


_flushers: WeakKeyDictionary[asyncio.AbstractEventLoop, Flusher] = WeakKeyDictionary()
