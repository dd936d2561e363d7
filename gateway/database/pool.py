"""The metered routes' own connections: an asynchronous pool per event loop, in autocommit, with prepared statements.

A connection is held for the milliseconds of a statement and never while an upstream works.
"""

import asyncio
from typing import Any
from weakref import WeakKeyDictionary

from django.conf import settings
from django.db import connections
from psycopg_pool import AsyncConnectionPool

from gateway.database.trips import LedgerConnection

ACQUIRE_SECONDS = 5.0
"""A request that gets no connection for so long answers 503 with nothing held."""

LOCK_WAIT = "5s"
STATEMENT_TIME = "15s"

Pool = AsyncConnectionPool[LedgerConnection]

_pools: WeakKeyDictionary[asyncio.AbstractEventLoop, Pool] = WeakKeyDictionary()


class ledger_connection:  # noqa: N801 - used as a statement
    """Lends a connection. Raises PoolTimeout where none comes free, which the API answers with 503 `not_ready`."""

    async def __aenter__(self) -> LedgerConnection:
        self._pool = pool = await open_pool()
        self._connection = await pool.getconn()
        while self._connection.failure:  # the server ended it while it lay idle
            await pool.putconn(self._connection)
            self._connection = await pool.getconn()
        return self._connection

    async def __aexit__(self, *exc: object) -> None:
        await self._pool.putconn(self._connection)


async def open_pool() -> Pool:
    """Give the running loop's pool, opened at its first use without waiting for the database."""
    loop = asyncio.get_running_loop()
    pool = _pools.get(loop)
    if pool is None:
        pool = _pools[loop] = _make_pool()
        await pool.open(wait=False)
    return pool


async def close_pool() -> None:
    """Close the running loop's pool. Safe to call without one."""
    pool = _pools.pop(asyncio.get_running_loop(), None)
    if pool is not None:
        await pool.close(timeout=2.0)


def _make_pool() -> Pool:
    return AsyncConnectionPool(
        connection_class=LedgerConnection,
        configure=_configure,
        kwargs=_parameters(),
        min_size=min(2, settings.LEDGER_POOL_MAX_CONNECTIONS),
        max_size=settings.LEDGER_POOL_MAX_CONNECTIONS,
        timeout=ACQUIRE_SECONDS,
        max_lifetime=3600,
        open=False,
        name="ledger",
    )


async def _configure(connection: LedgerConnection) -> None:
    connection.watch()


def _parameters() -> dict[str, Any]:
    """Take the address from Django's settings, as its own connections see them (also in a test's database)."""
    configured = connections["default"].settings_dict
    named = {
        "dbname": configured["NAME"],
        "user": configured["USER"],
        "password": configured["PASSWORD"],
        "host": configured["HOST"],
        "port": configured["PORT"],
    }
    extra = {name: value for name, value in configured["OPTIONS"].items() if name not in {"pool", "options"}}
    return {
        **extra,
        **{name: value for name, value in named.items() if value},
        "autocommit": True,
        "prepare_threshold": 0,
        "connect_timeout": 5,
        # A database that vanished without a word is noticed in seconds.
        "keepalives_idle": 10,
        "keepalives_interval": 3,
        "keepalives_count": 3,
        "tcp_user_timeout": 10_000,
        "application_name": "gateway-ledger",
        "options": f"-c timezone=UTC -c jit=off -c lock_timeout={LOCK_WAIT} -c statement_timeout={STATEMENT_TIME}",
    }
