"""The metered routes' own connection pool: one per event loop, in autocommit, with prepared statements.

A connection is in use only for the milliseconds of a statement, never while an upstream works. The most recently used one is
reused first: a few warm backends need half the processor time of many that alternate.
"""

import asyncio
import logging
import time
from collections import deque
from collections.abc import Callable, Coroutine
from contextlib import suppress
from typing import Any

from django.conf import settings
from django.db import connections
from psycopg import Error, OperationalError
from psycopg_pool import PoolClosed, PoolTimeout

from gateway.core.database.connection import TRANSACTIONS, LedgerConnection
from gateway.core.database.history import History, histories
from gateway.core.database.refusals import SharedSessions
from gateway.core.database.replication import FRESH_SECONDS
from gateway.core.database.sessions import check_async
from gateway.core.runtime.background import spawn
from gateway.core.runtime.logs import RecurringLog
from gateway.core.runtime.per_loop import PerLoop

ACQUIRE_SECONDS = 3.0
"""A request without a connection by then is answered with 503, and nothing is held."""

CONNECT_SECONDS = 2
RETRY_PAUSE_SECONDS = 0.2
LIFETIME_SECONDS = 3600.0
IDLE_SECONDS = 600.0

WATCH_SECONDS = 5.0
"""How often a process looks at its pool even if no call needs it."""

IS_READ_ONLY = "SELECT current_setting('transaction_read_only') = 'on'"

LOCK_WAIT = "2s"
STATEMENT_TIME = "5s"

_unwatched = RecurringLog("gateway.database", logging.ERROR)


class LedgerPool:
    """At most `size` connections of one event loop, opened on demand."""

    def __init__(self, size: int) -> None:
        self._size = size
        self._count = 0  # connections that are idle, in use, or being opened
        self._idle: list[LedgerConnection] = []
        self._waiting: deque[asyncio.Future[LedgerConnection | None]] = deque()
        self._is_closed = False
        self._opened_since = 0.0  # a connection that was opened before leads to a server that takes no writes
        self._history: History | None = None  # of the newest connection
        self.refusal: SharedSessions | None = None  # the reason why the last attempt to open a connection failed

    async def acquire(self) -> LedgerConnection:
        """Return a connection. Raises PoolTimeout if none is free, or can be opened, within ACQUIRE_SECONDS."""
        if (connection := self._take_idle()) is not None:
            return connection
        try:
            async with asyncio.timeout(ACQUIRE_SECONDS):
                return await self._open() if self._may_open() else await self._wait()
        except TimeoutError:
            raise PoolTimeout(f"no connection to the ledger within {ACQUIRE_SECONDS} s") from None

    @property
    def waiting(self) -> int:
        """Return how many wait for a connection that is in use, or is being opened for another."""
        return sum(not waiter.done() for waiter in self._waiting)

    def release(self, connection: LedgerConnection) -> None:
        """Return a connection to the pool, or discard it if it is unusable or too old."""
        now = time.monotonic()
        if connection.is_read_only or connection.is_overdue:
            self._leave(connection, now)
        if connection.failure or now - connection.opened_at > LIFETIME_SECONDS or self._is_closed:
            self._discard(connection)
            return
        if self._waiting and not self._is_usable(connection):  # an idle one is checked when it is taken
            self._discard(connection)
            return
        connection.used_at = now
        if not self._hand_on(connection):
            self._idle.append(connection)
            if now - self._idle[0].used_at > IDLE_SECONDS:
                self._discard(self._idle.pop(0))

    def close(self) -> None:
        """Close all connections: idle ones now, the others when they are released."""
        self._is_closed = True
        while self._idle:
            self._discard(self._idle.pop())

    def abandon(self) -> None:
        """Close the idle connections of a pool whose loop has ended without closing it."""
        while self._idle:
            self._idle.pop().pgconn.finish()

    def _take_idle(self) -> LedgerConnection | None:
        while self._idle:
            connection = self._idle.pop()
            if self._is_usable(connection):
                return connection
            self._discard(connection)
        return None

    def _leave(self, connection: LedgerConnection, now: float) -> None:
        """Use no connection any more that leads to this one's server, which takes no writes: there may be another by now.

        Once is enough: after the server was left, other connections to it say the same, and newer ones may lead to another.
        """
        connection.is_read_only = False
        if connection.opened_at >= self._opened_since and now - connection.opened_at > FRESH_SECONDS:
            self._opened_since = now
            while self._idle:
                self._discard(self._idle.pop())

    def _is_usable(self, connection: LedgerConnection) -> bool:
        """Return whether the server has not closed it while it was idle, nor been left, and no newer history was met since."""
        return (
            not connection.failure
            and connection.opened_at >= self._opened_since
            and not histories.is_outdated(connection.history)
        )

    def _may_open(self) -> bool:
        if self._is_closed:
            raise PoolClosed("the ledger's connection pool is closed")
        if self._count == self._size:
            return False
        self._count += 1
        return True

    async def _open(self) -> LedgerConnection:
        """Open a connection that is already counted. Retries until cancelled."""
        try:
            while True:
                try:
                    connection = await _connect()
                except OperationalError as error:
                    self.refusal = error if isinstance(error, SharedSessions) else None
                    await asyncio.sleep(RETRY_PAUSE_SECONDS)
                else:
                    connection.watch()
                    self._note(connection.history)
                    return connection
        except BaseException:
            self._make_room()
            raise

    def _note(self, history: History | None) -> None:
        """Run what a new history calls for. It does not delay the connection."""
        if history != self._history and self._history is not None:
            for work in _on_new_history:
                spawn(work())
        self._history = history or self._history

    async def _wait(self) -> LedgerConnection:
        """Wait until a connection is released, or another one may be opened."""
        given = asyncio.get_running_loop().create_future()
        self._waiting.append(given)
        try:
            connection: LedgerConnection | None = await given
        except asyncio.CancelledError:
            if given.done() and not given.cancelled():  # it was assigned at the same moment
                self._give_up(given.result())
            raise
        return connection if connection is not None else await self._open()

    def _give_up(self, given: LedgerConnection | None) -> None:
        if given is None:
            self._make_room()
        else:
            self.release(given)

    def _discard(self, connection: LedgerConnection) -> None:
        connection.fail(OperationalError("the connection was abandoned"))
        self._make_room()

    def _make_room(self) -> None:
        """Offer the place of a lost connection to the next waiter."""
        if not self._hand_on(None):
            self._count -= 1

    def _hand_on(self, given: LedgerConnection | None) -> bool:
        while self._waiting:
            waiter = self._waiting.popleft()
            if not waiter.done():
                waiter.set_result(given)
                return True
        return False


class ledger_connection:  # noqa: N801 - used as a statement
    """Provides a connection within the context. Raises PoolTimeout if none is free; the API answers with 503 `not_ready`."""

    async def __aenter__(self) -> LedgerConnection:
        self._pool = _pools.get()
        self._connection = await self._pool.acquire()
        return self._connection

    async def __aexit__(self, *exc: object) -> None:
        self._pool.release(self._connection)


def waiting() -> int:
    """Return how many calls of the running loop wait for a connection."""
    return _pools.get().waiting


async def open_pool() -> None:
    """Open the running loop's first connection, so that no request waits for it. The database may still be unavailable.

    Raises SharedSessions if a pooler in front of it has the wrong mode.
    """
    try:
        async with ledger_connection():
            pass
    except PoolTimeout:
        if (refusal := _pools.get().refusal) is not None:
            raise refusal from None


async def watch_pool() -> None:
    """Keep the running loop's pool connected to the newest copy of the database that this machine knows, until cancelled.

    So a process that gets no more calls meets a new history too, and names what was lost of those that it closed. A server that
    refuses writes is left, in case that another one takes them.
    """
    while True:
        await asyncio.sleep(WATCH_SECONDS)
        try:
            histories.refresh()
            with suppress(Error):  # the database is away, or must not be used, which is logged
                async with ledger_connection() as connection:
                    [(connection.is_read_only,)] = await connection.run(IS_READ_ONLY)
        except Exception as error:  # noqa: BLE001 - such as a thread that cannot be started: the next look tries again
            _unwatched.write(type(error).__name__, f"the pool was not looked at: {type(error).__name__}: {error}")


async def close_pool() -> None:
    """Close the running loop's pool for good: what asks for a connection afterwards gets PoolClosed, and no other pool."""
    _pools.get().close()


def on_new_history(work: Callable[[], Coroutine[Any, Any, None]]) -> None:
    """Have this run in the loop of each pool that meets another history of the database than before: after a failover."""
    _on_new_history.append(work)


_on_new_history: list[Callable[[], Coroutine[Any, Any, None]]] = []
_pools = PerLoop(lambda: LedgerPool(settings.LEDGER_POOL_MAX_CONNECTIONS), LedgerPool.abandon)


async def _connect() -> LedgerConnection:
    """Open a connection and check it. Raises OperationalError."""
    parameters = _parameters()
    connection = await LedgerConnection.connect(**parameters)
    try:
        connection.history = await check_async(connection, parameters)
    except BaseException:
        connection.pgconn.finish()
        raise
    return connection


def _parameters() -> dict[str, Any]:
    """Return libpq's parameters, with the address from the settings of Django's own connections (also for a test database)."""
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
        "prepare_threshold": None,
        "connect_timeout": CONNECT_SECONDS,
        # Detects a vanished database within seconds.
        "keepalives_idle": 10,
        "keepalives_interval": 3,
        "keepalives_count": 3,
        "tcp_user_timeout": 10_000,
        "application_name": "gateway-ledger",
        # Statements read only a few rows by their keys. A table that has not been analyzed yet must not be scanned for
        # that.
        "options": f"{TRANSACTIONS} -c timezone=UTC -c jit=off -c enable_seqscan=off"
        f" -c lock_timeout={LOCK_WAIT} -c statement_timeout={STATEMENT_TIME}",
    }
