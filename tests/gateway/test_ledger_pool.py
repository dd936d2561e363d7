"""The metered routes' connection pool: the most recently used first, never too many, none lost."""

import asyncio
import time
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from psycopg import OperationalError
from psycopg.errors import ReadOnlySqlTransaction
from psycopg_pool import PoolClosed, PoolTimeout

from gateway.core.database import pool as pools
from gateway.core.database.connection import LedgerConnection
from gateway.core.database.pool import LedgerPool
from gateway.core.database.replication import FRESH_SECONDS
from gateway.core.runtime import logs

pytestmark = pytest.mark.django_db(transaction=True)


class RememberingPool(LedgerPool):
    """Records the connections that it opened, so that a test can close them all."""

    def __init__(self, size: int) -> None:
        super().__init__(size)
        self.opened: list[LedgerConnection] = []

    async def _open(self) -> LedgerConnection:
        connection = await super()._open()
        self.opened.append(connection)
        return connection


def with_pool(size: int, run: Callable[[LedgerPool], Awaitable[Any]]) -> None:
    async def scene() -> None:
        pool = RememberingPool(size)
        try:
            await run(pool)
        finally:
            pool.close()
            for connection in pool.opened:
                connection.fail(OperationalError("the test is over"))

    asyncio.run(scene())


def test_lends_the_most_recently_used_connection() -> None:
    async def run(pool: LedgerPool) -> None:
        first, second = await pool.acquire(), await pool.acquire()
        pool.release(second)
        pool.release(first)
        assert await pool.acquire() is first
        assert await pool.acquire() is second

    with_pool(3, run)


def test_lends_at_most_its_size_and_serves_waiters_in_order() -> None:
    async def run(pool: LedgerPool) -> None:
        lent = await pool.acquire()
        early, late = asyncio.create_task(pool.acquire()), asyncio.create_task(pool.acquire())
        await asyncio.sleep(0)
        pool.release(lent)
        assert await early is lent
        assert not late.done()
        pool.release(lent)
        assert await late is lent

    with_pool(1, run)


def test_raises_if_no_connection_becomes_free(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pools, "ACQUIRE_SECONDS", 0)

    async def run(pool: LedgerPool) -> None:
        with pytest.raises(PoolTimeout):
            await pool.acquire()

    with_pool(0, run)


def test_a_connection_assigned_to_a_cancelled_waiter_is_not_lost() -> None:
    async def run(pool: LedgerPool) -> None:
        lent = await pool.acquire()
        leaving = asyncio.create_task(pool.acquire())
        await asyncio.sleep(0)
        pool.release(lent)
        leaving.cancel()
        await asyncio.gather(leaving, return_exceptions=True)
        assert await pool.acquire() is lent

    with_pool(1, run)


def test_a_cancelled_waiter_is_skipped() -> None:
    async def run(pool: LedgerPool) -> None:
        lent = await pool.acquire()
        leaving, staying = asyncio.create_task(pool.acquire()), asyncio.create_task(pool.acquire())
        await asyncio.sleep(0)
        leaving.cancel()
        await asyncio.gather(leaving, return_exceptions=True)
        pool.release(lent)
        assert await staying is lent

    with_pool(1, run)


def test_a_broken_connection_lets_the_next_waiter_open_one() -> None:
    async def run(pool: LedgerPool) -> None:
        lent = await pool.acquire()
        waiting = asyncio.create_task(pool.acquire())
        await asyncio.sleep(0)
        lent.fail(OperationalError("gone"))
        pool.release(lent)
        fresh = await waiting
        assert fresh is not lent
        assert not fresh.failure

    with_pool(1, run)


def test_a_connection_that_the_server_ended_is_not_lent() -> None:
    async def run(pool: LedgerPool) -> None:
        doomed, other = await pool.acquire(), await pool.acquire()
        killer = await LedgerConnection.connect(**pools._parameters())
        await killer.execute("SELECT pg_terminate_backend(%s)", [doomed.info.backend_pid])
        await killer.close()
        while not doomed.failure:  # its last message arrives before the end of the connection
            doomed.waiter = asyncio.get_running_loop().create_future()
            await doomed.waiter
        pool.release(other)
        pool.release(doomed)
        assert await pool.acquire() is other
        assert (await pool.acquire()).failure is None

    with_pool(2, run)


def test_an_old_connection_is_replaced() -> None:
    async def run(pool: LedgerPool) -> None:
        lent = await pool.acquire()
        lent.opened_at = time.monotonic() - pools.LIFETIME_SECONDS - 1
        pool.release(lent)
        assert lent.closed
        assert await pool.acquire() is not lent

    with_pool(1, run)


def test_a_connection_that_is_idle_for_long_is_closed() -> None:
    async def run(pool: LedgerPool) -> None:
        busy, spare = await pool.acquire(), await pool.acquire()
        pool.release(spare)
        spare.used_at = time.monotonic() - pools.IDLE_SECONDS - 1
        pool.release(busy)
        assert spare.closed
        assert await pool.acquire() is busy

    with_pool(2, run)


def test_a_closed_pool_lends_nothing_and_takes_everything_back() -> None:
    async def run(pool: LedgerPool) -> None:
        lent, idle = await pool.acquire(), await pool.acquire()
        pool.release(idle)
        pool.close()
        assert idle.closed
        pool.release(lent)
        assert lent.closed
        with pytest.raises(PoolClosed):
            await pool.acquire()

    with_pool(2, run)


def test_work_that_outlives_its_servers_pool_opens_no_other(monkeypatch: pytest.MonkeyPatch) -> None:
    async def late() -> None:
        with pytest.raises(PoolClosed):
            async with pools.ledger_connection():
                pass

    async def scene() -> None:
        await pools.open_pool()
        await pools.close_pool()
        await asyncio.create_task(late())
        await pools.close_pool()

    asyncio.run(scene())


def test_connections_of_a_loop_that_ended_are_closed_when_another_asks() -> None:
    async def use() -> LedgerConnection:
        async with pools.ledger_connection() as connection:
            return connection

    async def use_and_close() -> None:
        await use()
        await pools.close_pool()

    left = asyncio.run(use())
    assert not left.closed
    asyncio.run(use_and_close())
    assert left.closed


def test_retries_until_the_database_is_back(monkeypatch: pytest.MonkeyPatch) -> None:
    reachable = pools._parameters()
    away = {**reachable, "port": 1}
    answers = iter([away, away])
    monkeypatch.setattr(pools, "RETRY_PAUSE_SECONDS", 0)
    monkeypatch.setattr(pools, "_parameters", lambda: next(answers, reachable))

    async def run(pool: LedgerPool) -> None:
        assert not (await pool.acquire()).failure

    with_pool(1, run)


def test_failed_attempts_to_connect_free_their_places(monkeypatch: pytest.MonkeyPatch) -> None:
    reachable = pools._parameters()
    monkeypatch.setattr(pools, "_parameters", lambda: {**reachable, "port": 1})
    monkeypatch.setattr(pools, "ACQUIRE_SECONDS", 0)

    async def run(pool: LedgerPool) -> None:
        with pytest.raises(PoolTimeout):
            await pool.acquire()
        monkeypatch.setattr(pools, "_parameters", lambda: reachable)
        monkeypatch.setattr(pools, "ACQUIRE_SECONDS", 60)
        assert not (await pool.acquire()).failure

    with_pool(1, run)


def test_no_connection_to_a_server_that_refuses_writes_is_lent_again() -> None:
    async def run(pool: LedgerPool) -> None:
        refused, idle = await pool.acquire(), await pool.acquire()
        pool.release(idle)
        await refused.run("SELECT set_config('default_transaction_read_only', 'on', false)")
        with pytest.raises(ReadOnlySqlTransaction):
            await refused.run("UPDATE accounts_replay_epoch SET id = id RETURNING id")
        refused.opened_at -= FRESH_SECONDS
        pool.release(refused)
        after = await pool.acquire()
        assert (idle.failure is None, after in (refused, idle)) == (False, False)
        await after.run("UPDATE accounts_replay_epoch SET id = id RETURNING id")
        # One that was opened a moment ago stays: there is probably no other server.
        after.is_read_only, after.opened_at = True, time.monotonic() + 60
        pool.release(after)
        assert await pool.acquire() is after

    with_pool(3, run)


def test_a_server_is_left_once_however_many_of_its_connections_get_no_answer() -> None:
    async def run(pool: LedgerPool) -> None:
        hanging = [await pool.acquire() for _ in range(3)]
        for connection in hanging:
            connection.opened_at -= FRESH_SECONDS
        hanging[0]._overdue()
        pool.release(hanging[0])
        newer = await pool.acquire()
        pool.release(newer)
        for connection in hanging[1:]:
            connection._overdue()
            pool.release(connection)
            assert await pool.acquire() is newer
            pool.release(newer)
        # A newer server may hang as well.
        newer = await pool.acquire()
        newer.opened_at -= FRESH_SECONDS
        pool._opened_since -= FRESH_SECONDS
        newer._overdue()
        pool.release(newer)
        assert await pool.acquire() is not newer

    with_pool(4, run)


def test_the_watch_goes_on_after_every_failure(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    connect = pools._connect
    failures: list[Exception] = [RuntimeError("no thread"), OSError("no descriptor"), PoolTimeout("away")]

    async def fail_at_first() -> LedgerConnection:
        if failures:
            raise failures.pop(0)
        return await connect()

    async def scene() -> None:
        watch = asyncio.create_task(pools.watch_pool())
        try:
            async with asyncio.timeout(60):
                while not pools._pools.get()._idle:
                    assert not watch.done()
                    await asyncio.sleep(0.01)
        finally:
            watch.cancel()
            await pools.close_pool()

    logs.forget()
    monkeypatch.setattr(pools, "WATCH_SECONDS", 0.01)
    monkeypatch.setattr(pools, "_connect", fail_at_first)
    asyncio.run(scene())
    assert [record.getMessage() for record in caplog.records if record.levelname == "ERROR"] == [
        "the pool was not looked at: RuntimeError: no thread",
        "the pool was not looked at: OSError: no descriptor",
    ]
