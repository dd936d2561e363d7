"""The flush that callers share: what was committed before it is on disk after it, and nobody waits for nothing."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from psycopg_pool import PoolTimeout

from gateway.database import close_pool, ledger_connection
from gateway.database import pool as pools
from gateway.database.connection import Query
from gateway.database.flush import Flusher

pytestmark = pytest.mark.django_db(transaction=True)

COMMIT_AND_WAIT_FOR_NOTHING = Query(
    "SELECT set_config('synchronous_commit', 'off', true), pg_logical_emit_message(true, 'test', '')::text", {}, tuple
)
IS_ON_DISK = "SELECT pg_current_wal_flush_lsn() >= %(lsn)s::pg_lsn"


class CountingFlusher(Flusher):
    """Counts how many waited for each flush."""

    def __init__(self) -> None:
        super().__init__()
        self.batches: list[int] = []

    async def _flush(self, batch: list["asyncio.Future[None]"]) -> None:
        self.batches.append(len(batch))
        await super()._flush(batch)


def with_flusher(scene: Callable[[CountingFlusher], Awaitable[Any]]) -> None:
    async def run() -> None:
        try:
            await scene(CountingFlusher())
        finally:
            await close_pool()

    asyncio.run(run())


def test_what_was_committed_before_is_on_disk_after() -> None:
    async def scene(flusher: Flusher) -> None:
        async with ledger_connection() as connection:
            _, lsn = await connection.run(COMMIT_AND_WAIT_FOR_NOTHING)
            await flusher.flushed()
            assert await connection.run(Query(IS_ON_DISK, {"lsn": lsn}, lambda row: row[0]))

    with_flusher(scene)


def test_who_comes_during_a_flush_waits_for_the_next_and_shares_it() -> None:
    async def scene(flusher: CountingFlusher) -> None:
        first = asyncio.create_task(flusher.flushed())
        while not flusher.batches:  # noqa: ASYNC110 - it begins with the next turn of the loop
            await asyncio.sleep(0)
        late = [asyncio.create_task(flusher.flushed()) for _ in range(5)]
        await asyncio.gather(first, *late)
        assert flusher.batches == [1, 5]

    with_flusher(scene)


def test_who_left_keeps_nobody_from_the_disk() -> None:
    async def scene(flusher: CountingFlusher) -> None:
        leaving, staying = asyncio.create_task(flusher.flushed()), asyncio.create_task(flusher.flushed())
        await asyncio.sleep(0)
        leaving.cancel()
        await staying
        assert leaving.cancelled()

    with_flusher(scene)


def test_a_database_that_is_away_is_told_to_all_who_waited(monkeypatch: pytest.MonkeyPatch) -> None:
    reachable = pools._parameters()

    async def scene(flusher: CountingFlusher) -> None:
        monkeypatch.setattr(pools, "_parameters", lambda: {**reachable, "port": 1})
        monkeypatch.setattr(pools, "ACQUIRE_SECONDS", 0)
        outcomes = await asyncio.gather(flusher.flushed(), flusher.flushed(), return_exceptions=True)
        assert [type(outcome) for outcome in outcomes] == [PoolTimeout, PoolTimeout]
        monkeypatch.undo()
        await flusher.flushed()
        assert flusher.batches == [2, 1]

    with_flusher(scene)
