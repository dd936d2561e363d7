"""One prepared statement in one round trip, answered while the event loop goes on.

libpq through psycopg's own binding (`psycopg.pq`): psycopg's cursors can do the same, at several times the processor
time for a small statement.
"""

import asyncio
import re
import time
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any, NamedTuple, Protocol, TypeVar

from psycopg import AsyncConnection, OperationalError
from psycopg.errors import error_from_result
from psycopg.pq import ExecStatus
from psycopg.pq.abc import PGresult

from gateway.database.values import Decoder, decoder, encode

RowCo = TypeVar("RowCo", covariant=True)

_PLACEHOLDER = re.compile(r"%\((\w+)\)s")
_TEXT = 0


class Statement(Protocol[RowCo]):
    """SQL with `%(name)s` placeholders, its parameters, and how to read its one row."""

    @property
    def sql(self) -> str: ...
    @property
    def parameters(self) -> Mapping[str, Any]: ...
    @property
    def read(self) -> Callable[[Any], RowCo]: ...


class Query(NamedTuple):
    """The plainest statement."""

    sql: str
    parameters: Mapping[str, Any]
    read: Callable[[Any], Any]


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
        self._loop.add_reader(self._socket, self._arrived)

    async def run(self, statement: Statement[RowCo]) -> RowCo:
        """Run a statement, which is a transaction of its own, and read its row. Raises what the database raised."""
        sql, parameters = statement.sql, statement.parameters
        values, formats = encode([parameters[name] for name in _converted(sql)[1]])
        try:
            name = self.prepared.get(sql) or await self._prepare(sql)
            self.pgconn.send_query_prepared(name, values, formats, _TEXT)
            answer = await self._answer()
        except BaseException:
            self.fail(OperationalError("the connection was given up in the middle of a statement"))
            raise
        if answer.status != ExecStatus.TUPLES_OK:
            raise error_from_result(answer)
        return statement.read(self._row(sql, answer))

    def fail(self, error: Exception) -> None:
        """End it, and say so to whoever waits."""
        # The number is remembered: libpq forgets it when the server hangs up.
        socket, self._socket = getattr(self, "_socket", None), None
        if socket is not None:
            self._loop.remove_reader(socket)
        self.failure = self.failure or error
        self.pgconn.finish()
        _wake(self.waiter)

    def _arrived(self) -> None:
        try:
            self.pgconn.consume_input()
        except Exception as error:  # noqa: BLE001 - raised where an answer is waited for
            self.fail(error)
        else:
            if self.waiter is not None and not self.pgconn.is_busy():
                _wake(self.waiter)

    async def _prepare(self, sql: str) -> bytes:
        name = b"ledger_%d" % len(self.prepared)
        self.pgconn.send_prepare(name, _converted(sql)[0])
        answer = await self._answer()
        if answer.status != ExecStatus.COMMAND_OK:
            raise error_from_result(answer)
        self.prepared[sql] = name
        return name

    async def _answer(self) -> PGresult:
        """Wait for the whole answer to what was sent."""
        while self.pgconn.flush():
            await self._drained()
        while self.pgconn.is_busy():
            await self._woken()
        answer = self.pgconn.get_result()
        if answer is None:
            raise OperationalError("the server's answers are out of step")
        while True:
            while self.pgconn.is_busy():
                await self._woken()
            if self.pgconn.get_result() is None:
                return answer

    def _row(self, sql: str, answer: PGresult) -> tuple[Any, ...]:
        decoders = self.decoders.get(sql)
        if decoders is None:
            types = (answer.ftype(column) for column in range(answer.nfields))
            decoders = self.decoders[sql] = tuple(decoder(type_oid) for type_oid in types)
        row = []
        for column, decode in enumerate(decoders):
            value = answer.get_value(0, column)
            row.append(value if value is None else decode(value))
        return tuple(row)

    async def _woken(self) -> None:
        """Wait until an answer has come, or raise what ended the connection."""
        if self.failure is None:
            self.waiter = self._loop.create_future()
            await self.waiter
        if self.failure:
            raise self.failure

    async def _drained(self) -> None:
        """Wait until more can be written. What comes back meanwhile is read, or both sides would wait for ever."""
        socket = self.pgconn.socket
        waiter = self.waiter = self._loop.create_future()
        self._loop.add_writer(socket, _wake, waiter)
        try:
            await waiter
        finally:
            self._loop.remove_writer(socket)
        if self.failure:
            raise self.failure


def _wake(waiter: "asyncio.Future[None] | None") -> None:
    if waiter is not None and not waiter.done():
        waiter.set_result(None)


@lru_cache(maxsize=256)
def _converted(sql: str) -> tuple[bytes, tuple[str, ...]]:
    """Number the placeholders as PostgreSQL has them, and list the parameters in that order."""
    names: dict[str, int] = {}
    query = _PLACEHOLDER.sub(lambda found: f"${names.setdefault(found[1], len(names) + 1)}", sql)
    return query.encode(), tuple(names)
