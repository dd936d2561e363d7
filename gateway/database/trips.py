"""Several prepared statements in one round trip, each a transaction of its own, each answered as soon as it is done.

libpq's pipeline mode through psycopg's own binding (`psycopg.pq`). psycopg's cursors can do the same, at five times the
processor time for two small statements, and give no result before all have come.
"""

import asyncio
import re
import time
from collections.abc import Callable, Mapping
from functools import lru_cache
from types import TracebackType
from typing import Any, Protocol, Self, TypeVar

from psycopg import AsyncConnection, OperationalError
from psycopg.errors import error_from_result
from psycopg.pq import ExecStatus
from psycopg.pq.abc import PGconn, PGresult

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


class LedgerConnection(AsyncConnection[Any]):
    """A connection that knows what it has prepared, and that reads whatever comes in, also between trips.

    `failure` is set once it is of no more use: the server ended it, or a trip was left early. `opened_at` and `used_at`
    are seconds of the monotonic clock.
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
        self._socket: int | None = self.pgconn.socket
        asyncio.get_running_loop().add_reader(self._socket, self._arrived)

    def fail(self, error: Exception) -> None:
        """End it, and say so to whoever waits."""
        self._unwatch()
        self.failure = error
        self.pgconn.finish()
        _wake(self.waiter)

    def _arrived(self) -> None:
        try:
            self.pgconn.consume_input()
        except Exception as error:  # noqa: BLE001 - raised where an answer is waited for
            self.fail(error)
        else:
            _wake(self.waiter)

    def _unwatch(self) -> None:
        # The number is remembered: libpq forgets it when the server hangs up.
        socket, self._socket = getattr(self, "_socket", None), None
        if socket is not None:
            asyncio.get_running_loop().remove_reader(socket)


class Trip:
    """One round trip: statements are sent together on entering; `result` gives their rows in order.

    A trip that is left early, by an error or a cancellation, takes its connection along: nobody knows what is still on
    the wire.
    """

    def __init__(self, connection: LedgerConnection, *statements: Statement[Any]) -> None:
        self._connection = connection
        self._wire: PGconn = connection.pgconn
        self._statements = list(statements)
        self._fresh: set[str] = set()
        self._loop = asyncio.get_running_loop()

    async def __aenter__(self) -> Self:
        try:
            self._wire.enter_pipeline_mode()
            for statement in self._statements:
                self._send(statement)
                self._wire.pipeline_sync()
            while self._wire.flush():
                await self._drained()
        except BaseException:
            self._connection.fail(_left())
            raise
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is None and not self._statements:
            self._wire.exit_pipeline_mode()
        else:
            self._connection.fail(_left())

    async def result(self) -> Any:
        """Wait for the next statement, which is committed then, and read its row. Raises what the database raised."""
        statement = self._statements.pop(0)
        if statement.sql in self._fresh:
            self._fresh.discard(statement.sql)
            await self._complete(ExecStatus.COMMAND_OK)
        answer = await self._complete(ExecStatus.TUPLES_OK)
        synced = await self._next()
        if synced is None or synced.status != ExecStatus.PIPELINE_SYNC:
            raise OperationalError("the server's answers are out of step")
        return statement.read(self._row(statement.sql, answer))

    def _send(self, statement: Statement[Any]) -> None:
        query, names = _converted(statement.sql)
        prepared = self._connection.prepared
        name = prepared.get(statement.sql)
        if name is None:
            name = prepared[statement.sql] = b"trip_%d" % len(prepared)
            self._wire.send_prepare(name, query)
            self._fresh.add(statement.sql)
        values, formats = encode([statement.parameters[parameter] for parameter in names])
        self._wire.send_query_prepared(name, values, formats, _TEXT)

    def _row(self, sql: str, answer: PGresult) -> tuple[Any, ...]:
        decoders = self._connection.decoders.get(sql)
        if decoders is None:
            types = (answer.ftype(column) for column in range(answer.nfields))
            decoders = self._connection.decoders[sql] = tuple(decoder(type_oid) for type_oid in types)
        values = (answer.get_value(0, column) for column in range(len(decoders)))
        return tuple(value if value is None else decode(value) for decode, value in zip(decoders, values, strict=True))

    async def _complete(self, expected: ExecStatus) -> PGresult:
        """Take one command's result and the end that follows it."""
        answer = await self._next()
        if answer is None:
            raise OperationalError("the server's answers are out of step")
        if answer.status != expected:
            raise error_from_result(answer)
        await self._next()
        return answer

    async def _next(self) -> PGresult | None:
        while self._wire.is_busy():
            await self._woken()
        return self._wire.get_result()

    async def _woken(self) -> None:
        """Wait until the connection has read something, or raise what ended it."""
        if self._connection.failure is None:
            waiter = self._connection.waiter = self._loop.create_future()
            await waiter
        if self._connection.failure:
            raise self._connection.failure

    async def _drained(self) -> None:
        """Wait until more can be written. What comes back meanwhile is read, or both sides would wait for ever."""
        socket = self._wire.socket
        waiter = self._connection.waiter = self._loop.create_future()
        self._loop.add_writer(socket, _wake, waiter)
        try:
            await waiter
        finally:
            self._loop.remove_writer(socket)
        if self._connection.failure:
            raise self._connection.failure


def _left() -> OperationalError:
    return OperationalError("the connection was given up in the middle of a trip")


def _wake(waiter: "asyncio.Future[None] | None") -> None:
    if waiter is not None and not waiter.done():
        waiter.set_result(None)


@lru_cache(maxsize=256)
def _converted(sql: str) -> tuple[bytes, tuple[str, ...]]:
    """Number the placeholders as PostgreSQL has them, and list the parameters in that order."""
    names: dict[str, int] = {}
    query = _PLACEHOLDER.sub(lambda found: f"${names.setdefault(found[1], len(names) + 1)}", sql)
    return query.encode(), tuple(names)
