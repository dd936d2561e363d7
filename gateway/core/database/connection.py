"""One prepared statement in one round trip, answered while the event loop goes on.

libpq through psycopg's own binding (`psycopg.pq`): psycopg's cursors can do the same, at several times the processor
time for a small statement.
"""

import asyncio
import select
import time
from collections.abc import Sequence
from typing import Any

from psycopg import AsyncConnection, OperationalError
from psycopg.errors import FeatureNotSupported, InvalidSqlStatementName, error_from_result
from psycopg.pq import ExecStatus, TransactionStatus
from psycopg.pq.abc import PGresult

from gateway.core.database.values import Decoder, decoder, encode

ANSWER_SECONDS = 6.0
"""A statement that is not answered by then is abandoned, together with its connection. Longer than STATEMENT_SECONDS of
the pool, so that a database that works ends the statement itself and says so."""

_TEXT = 0


class Unanswered(OperationalError):
    """A statement went out and no answer came: nobody knows whether it was done, or still will be."""


class LedgerConnection(AsyncConnection[Any]):
    """A connection that knows what it has prepared, and that reads whatever comes in, also between statements.

    `failure` is set once it is of no more use: the server ended it, or a statement was left before its answer came, and
    nobody knows any more what is still on the wire. `opened_at` and `used_at` are seconds of the monotonic clock.
    """

    prepared: dict[str, bytes]
    decoders: dict[str, tuple[Decoder, ...]]
    failure: Exception | None
    waiter: "asyncio.Future[None] | None"
    opened_at: float
    used_at: float

    def watch(self) -> None:
        """Begin to read whenever something comes. psycopg itself waits for nothing any more after this."""
        self.prepared, self.decoders = {}, {}
        self.failure, self.waiter = None, None
        self.opened_at = self.used_at = time.monotonic()
        self._loop = asyncio.get_running_loop()
        self.pgconn.nonblocking = 1
        self._socket: int | None = self.pgconn.socket
        self._incoming = select.poll()
        self._incoming.register(self._socket, select.POLLIN)
        self._loop.add_reader(self._socket, self._arrived)

    async def run(self, sql: str, parameters: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        """Run a statement with `$1` placeholders, a transaction of its own, and return its rows.

        It is committed, and on disk, when this returns. Raises the error that the database reported, and then the
        transaction was rolled back; or Unanswered, and then the connection is of no more use.
        """
        values, formats = encode(parameters)
        timer = self._loop.call_later(ANSWER_SECONDS, self._overdue)
        try:
            name = self.prepared.get(sql) or await self._prepare(sql)
            self.pgconn.send_query_prepared(name, values, formats, _TEXT)
            answer = await self._answer()
        except OperationalError as error:
            self.fail(error)
            raise Unanswered(str(error)) from error
        except BaseException as error:
            self.fail(OperationalError(f"the connection was abandoned in the middle of a statement: {error!r}"))
            raise
        finally:
            timer.cancel()
        if answer.status != ExecStatus.TUPLES_OK:
            raise self._reported(answer)
        return self._rows(sql, answer)

    def fail(self, error: Exception) -> None:
        """Close the connection, and wake everything that waits for an answer."""
        # The number is remembered: libpq forgets it when the server closes the connection.
        socket, self._socket = getattr(self, "_socket", None), None
        if socket is not None:  # before it is closed: another connection may get its number at once
            self._loop.remove_reader(socket)
            self._loop.remove_writer(socket)
        self.failure = self.failure or error
        self.pgconn.finish()
        _wake(self.waiter)

    def _overdue(self) -> None:
        self.fail(OperationalError(f"no answer within {ANSWER_SECONDS:g} s"))

    def _arrived(self) -> None:
        """Read all that is there: uvloop says only once that a connection was reset, with the bytes before its end."""
        try:
            self.pgconn.consume_input()
            while self._incoming.poll(0):
                self.pgconn.consume_input()
        except Exception as error:  # noqa: BLE001 - raised where an answer is waited for
            self.fail(error)
        else:
            if self.waiter is not None and not self.pgconn.is_busy():
                _wake(self.waiter)

    async def _prepare(self, sql: str) -> bytes:
        name = b"ledger_%d" % len(self.prepared)
        self.pgconn.send_prepare(name, sql.encode())
        answer = await self._answer()
        if answer.status != ExecStatus.COMMAND_OK:
            raise error_from_result(answer)
        self.prepared[sql] = name
        return name

    async def _answer(self) -> PGresult:
        """Wait for the whole answer to what was sent, up to the server's word that the transaction is over.

        Rows prove nothing: a server that is told to quit while it commits sends them and then closes the connection.
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

    def _reported(self, answer: PGresult) -> Exception:
        """Read the error that the database reported. A statement that it cannot run as it was prepared ends here."""
        error = error_from_result(answer)
        if error.sqlstate is None:  # libpq's own, such as too little memory for an answer: the database did not refuse
            self.fail(error)
            return Unanswered(str(error))
        if isinstance(error, FeatureNotSupported | InvalidSqlStatementName):
            self.fail(error)
        return error

    async def _result(self) -> PGresult | None:
        while self.pgconn.is_busy():
            await self._woken()
        return self.pgconn.get_result()

    def _rows(self, sql: str, answer: PGresult) -> list[tuple[Any, ...]]:
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
        """Wait until an answer has come, or raise what ended the connection."""
        if self.failure is None:
            self.waiter = self._loop.create_future()
            await self.waiter
        if self.failure:
            raise self.failure

    async def _drained(self) -> None:
        """Wait until more can be written. What comes back meanwhile is read, or both sides would wait forever."""
        waiter = self.waiter = self._loop.create_future()
        self._loop.add_writer(self.pgconn.socket, _wake, waiter)
        try:
            await waiter
        finally:
            if self._socket is not None:
                self._loop.remove_writer(self._socket)
        if self.failure:
            raise self.failure


def _wake(waiter: "asyncio.Future[None] | None") -> None:
    if waiter is not None and not waiter.done():
        waiter.set_result(None)
