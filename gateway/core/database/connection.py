"""Runs a prepared statement in one round trip without blocking the event loop.

Uses libpq through psycopg's own binding (`psycopg.pq`), because psycopg's cursors take several times the processor time for a
small statement.
"""

import asyncio
import select
import time
from collections.abc import Sequence
from functools import lru_cache
from hashlib import sha256
from typing import Any

from psycopg import OperationalError
from psycopg.errors import FeatureNotSupported, InvalidSqlStatementName, ReadOnlySqlTransaction
from psycopg.pq import ExecStatus, TransactionStatus

from gateway.core.database.history import History
from gateway.core.database.psycopg_internals import Result, UncancelledAsyncConnection, error_of
from gateway.core.database.replication import Unreplicated, note_unreplicated
from gateway.core.database.values import Decoder, decoder, encode

ANSWER_SECONDS = 6.0
"""A statement without an answer by then is abandoned, together with its connection. Longer than the pool's STATEMENT_TIME, so
that a working database cancels the statement itself and reports it."""

TRANSACTIONS = r"-c synchronous_commit=on -c default_transaction_isolation=read\ committed"
"""Options of every session, regardless of the database's defaults. With synchronous commits, nothing is sent upstream before
its hold is on disk. With `read committed`, a statement after a lock wait sees what the lock's holder committed."""

_TEXT = 0


class Unanswered(OperationalError):
    """A statement was sent and not answered. It is unknown whether it was executed, or still will be."""


class LedgerConnection(UncancelledAsyncConnection):
    """A connection that tracks its prepared statements, and that reads incoming data between statements too.

    `failure` is set once it is unusable: the server closed it, or a statement was abandoned before its answer, so that it is
    unknown what is still in transit. `opened_at` and `used_at` are seconds of the monotonic clock. `is_read_only` is set once the
    server refused a write as one that takes none, and `is_overdue` once a statement got no answer: the server hangs, or its commits
    wait for a standby that may have become the primary.
    """

    prepared: dict[str, bytes]
    decoders: dict[str, tuple[Decoder, ...]]
    failure: Exception | None
    waiter: "asyncio.Future[None] | None"
    opened_at: float
    used_at: float
    history: History | None = None
    is_read_only: bool = False
    is_overdue: bool = False
    is_unreplicated: bool = False

    def watch(self) -> None:
        """Start reading whenever data arrives. psycopg itself no longer waits for anything after this."""
        self.prepared, self.decoders = {}, {}
        self.failure, self.waiter = None, None
        note_unreplicated(self)
        self.opened_at = self.used_at = time.monotonic()
        self._loop = asyncio.get_running_loop()
        self.pgconn.nonblocking = 1
        self._socket: int | None = self.pgconn.socket
        self._incoming = select.poll()
        self._incoming.register(self._socket, select.POLLIN)
        self._loop.add_reader(self._socket, self._arrived)

    async def run(self, sql: str, parameters: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        """Run a statement with `$1` placeholders in its own transaction, and return its rows.

        It is committed, and on disk, when this returns. Raises the error that the database reported, after a rollback; or
        Unanswered, and the connection is then unusable: also if it is committed, and a synchronous standby may lack it.
        """
        values, formats = encode(parameters)
        timer = self._loop.call_later(ANSWER_SECONDS, self._overdue)
        try:
            name = self.prepared.get(sql) or await self._prepare(sql)
            self.pgconn.send_query_prepared(name, values, formats, _TEXT)
            answer = await self._answer()
            if self.is_unreplicated:
                raise Unreplicated
        except OperationalError as error:
            self.fail(error)
            raise Unanswered(str(error)) from error
        except BaseException as error:
            self.fail(OperationalError(f"the connection was abandoned during a statement: {error!r}"))
            raise
        finally:
            timer.cancel()
        if answer.status != ExecStatus.TUPLES_OK:
            raise self._reported(answer)
        return self._rows(sql, answer)

    def fail(self, error: Exception) -> None:
        """Close the connection, and wake the task that waits for an answer."""
        # The descriptor is stored, because libpq discards it when the server closes the connection.
        socket, self._socket = getattr(self, "_socket", None), None
        if socket is not None:  # before closing it, because another connection may get the same descriptor at once
            self._loop.remove_reader(socket)
            self._loop.remove_writer(socket)
        self.failure = self.failure or error
        self.pgconn.finish()
        _wake(self.waiter)

    def _overdue(self) -> None:
        self.is_overdue = True
        self.fail(OperationalError(f"no answer within {ANSWER_SECONDS:g} s"))

    def _arrived(self) -> None:
        """Read all available data, because uvloop reports a reset connection only once, with the bytes before its end."""
        try:
            self.pgconn.consume_input()
            while self._incoming.poll(0):
                self.pgconn.consume_input()
        except Exception as error:  # noqa: BLE001 - raised to the task that waits for an answer
            self.fail(error)
        else:
            if self.waiter is not None and not self.pgconn.is_busy():
                _wake(self.waiter)

    async def _prepare(self, sql: str) -> bytes:
        name = statement_name(sql)
        self.pgconn.send_prepare(name, sql.encode())
        answer = await self._answer()
        if answer.status != ExecStatus.COMMAND_OK:
            raise error_of(answer)
        self.prepared[sql] = name
        return name

    async def _answer(self) -> Result:
        """Wait for the whole answer, until the server confirms that the transaction has ended.

        The rows do not prove it: a server that is shut down during a commit sends them and then closes the connection.
        """
        while self.pgconn.flush():
            await self._drained()
        answer = await self._result()
        if answer is None:
            raise OperationalError("the server's answers do not match the statements sent")
        while (more := await self._result()) is not None:
            answer = more  # an error after the rows: the commit failed
        if self.pgconn.transaction_status != TransactionStatus.IDLE:
            raise OperationalError("the server closed the connection before the transaction ended")
        return answer

    def _reported(self, answer: Result) -> Exception:
        """Return the error that the database reported. A prepared statement that it can no longer run ends the connection."""
        error = error_of(answer)
        if error.sqlstate is None:  # libpq's own error, such as too little memory for an answer, not the database's
            self.fail(error)
            return Unanswered(str(error))
        if isinstance(error, FeatureNotSupported | InvalidSqlStatementName):
            self.fail(error)
        self.is_read_only = isinstance(error, ReadOnlySqlTransaction)
        return error

    async def _result(self) -> Result | None:
        while self.pgconn.is_busy():
            await self._woken()
        return self.pgconn.get_result()

    def _rows(self, sql: str, answer: Result) -> list[tuple[Any, ...]]:
        decoders = self.decoders.get(sql)
        if decoders is None:
            types = (answer.ftype(column) for column in range(answer.nfields))
            decoders = self.decoders[sql] = tuple(decoder(type_oid) for type_oid in types)
        return [
            tuple(
                value if (value := answer.get_value(row, column)) is None else decode(value)
                for column, decode in enumerate(decoders)
            )
            for row in range(answer.ntuples)
        ]

    async def _woken(self) -> None:
        """Wait until an answer has arrived, or raise the error that ended the connection."""
        if self.failure is None:
            self.waiter = self._loop.create_future()
            await self.waiter
        if self.failure:
            raise self.failure

    async def _drained(self) -> None:
        """Wait until more can be written. Data that arrives meanwhile is read, or both sides could wait forever."""
        waiter = self.waiter = self._loop.create_future()
        self._loop.add_writer(self.pgconn.socket, _wake, waiter)
        try:
            await waiter
        finally:
            if self._socket is not None:
                self._loop.remove_writer(self._socket)
        if self.failure:
            raise self.failure


@lru_cache
def statement_name(sql: str) -> bytes:
    """Return the statement's name on every connection. It depends only on the content, so that a pooler that mixes up sessions
    causes an error, and never the execution of another statement."""
    return b"ledger_" + sha256(sql.encode()).hexdigest()[:32].encode()


def _wake(waiter: "asyncio.Future[None] | None") -> None:
    if waiter is not None and not waiter.done():
        waiter.set_result(None)
