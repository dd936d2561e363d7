"""Batches calls that wait for the ledger: one statement, one transaction and one flush for all of them.

A call's element is one input row and one output row of an SQL function that takes several. While a statement with an owner's
elements is in progress, that owner's next elements wait, in order of arrival; they and those of other owners then form one
batch. Its commit is an ordinary one: an element is answered when its transaction is on disk.

Why nothing is lost or done twice: an element's caller continues only with the row that its own transaction returned, after
the server has confirmed the end of the transaction. A statement that the database reported as failed has no effect, so its
elements run again, one by one. The effect of a statement that was never answered is unknown, so its elements do not run
again, and their callers get Unanswered.
"""

import asyncio
from collections import deque
from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass
from functools import lru_cache
from itertools import groupby
from operator import attrgetter
from typing import Any, Generic, NamedTuple, TypeVar

from psycopg import DataError, IntegrityError, InternalError, ProgrammingError
from psycopg.errors import (
    DeadlockDetected,
    LockNotAvailable,
    ProgramLimitExceeded,
    ReadOnlySqlTransaction,
    StatementTooComplex,
)
from psycopg_pool import PoolTimeout

from gateway.core.contract.values import value_class
from gateway.core.database.connection import Unanswered
from gateway.core.database.pool import ledger_connection
from gateway.core.database.values import Blobs, Elements
from gateway.core.runtime.background import spawn
from gateway.core.runtime.per_loop import PerLoop

LANES = 2
"""Batches in progress at once: while one waits for the disk, another runs."""

PATIENCE_SECONDS = 0.01
"""How long elements wait for more owners to join a second batch. They do not wait for the end of the one in progress, because
its statement may be one that hangs."""

HELD_UP_LANES = 3
"""Batches, of one owner each, that may wait at once for a wallet that a transaction outside this process has locked."""

BATCH_ELEMENTS_MAX = 32
BATCH_BYTES_MAX = 4 * 1024 * 1024

WAIT_SECONDS = 8.0
"""Timeout of an element's answer."""

# Errors that one element of a batch can cause. The other elements are retried without it.
_OWN_FAULTS = (
    DataError,
    IntegrityError,
    InternalError,
    ProgrammingError,
    DeadlockDetected,
    LockNotAvailable,
    ProgramLimitExceeded,
    StatementTooComplex,
)

Row = TypeVar("Row")


class BatchFunction(NamedTuple):
    """An SQL function `name(elements json, bodies bytea[], wait boolean)` that returns (answer json, body bytea) rows.

    An answer's outcome is 'busy' if another transaction has locked the owner's wallet and `wait` is false; nothing was done
    for that element. In a batch, functions run in the order of their ranks.
    """

    rank: int
    name: str


@value_class(frozen=True, slots=True)
class Element(Generic[Row]):
    """One call's part of a batch. `arguments` is a JSON object; `read` takes the answer's object and body."""

    function: BatchFunction
    owner: Hashable
    arguments: bytes
    read: Callable[[dict[str, Any], bytes | None], Row]
    body: bytes | None = None


@dataclass(eq=False, slots=True)
class _Waiting:
    element: Element[Any]
    answer: "asyncio.Future[Any]"
    is_begun: bool = False  # while the effect of a statement that contains it is unknown

    @property
    def size_bytes(self) -> int:
        return len(self.element.arguments) + len(self.element.body or b"")

    def give_up(self) -> None:
        kind = Unanswered if self.is_begun else PoolTimeout
        if not self.answer.done():
            self.answer.set_exception(kind("the ledger did not answer in time"))


_Batch = list[_Waiting]


class Batches:
    """The elements of one event loop."""

    def __init__(self) -> None:
        self._queues: dict[Hashable, deque[_Waiting]] = {}
        self._under_way: set[Hashable] = set()
        self._ready: dict[Hashable, None] = {}  # owners with a queue and nothing in progress, in order
        self._held_up: deque[_Batch] = deque()
        self._lanes, self._held_up_lanes = LANES, HELD_UP_LANES
        self._is_scheduled = False  # while the next batch has a lane, but not its elements yet
        self._patience: asyncio.TimerHandle | None = None

    async def run(self, element: Element[Row], wait_seconds: float | None = None) -> Row:
        """Run an element and return the result of its `read`.

        Raises the database's error, or PoolTimeout, if nothing was done; Unanswered if that is unknown. Without an answer
        within `wait_seconds` (by default WAIT_SECONDS), raises PoolTimeout or Unanswered.
        """
        loop = asyncio.get_running_loop()
        waiting = _Waiting(element, loop.create_future())
        self._enqueue(waiting)
        self._start()
        timer = loop.call_later(WAIT_SECONDS if wait_seconds is None else wait_seconds, waiting.give_up)
        try:
            answer, body = await waiting.answer
        finally:
            timer.cancel()
        return element.read(answer, body)

    def _enqueue(self, waiting: _Waiting) -> None:
        owner = waiting.element.owner
        if (queue := self._queues.get(owner)) is None:
            queue = self._queues[owner] = deque()
        queue.append(waiting)
        if owner not in self._under_way:
            self._ready[owner] = None

    def _start(self) -> None:
        """Schedule the next batch. A second one waits until it has as many owners as the one in progress, since few large
        batches cost less than many small ones.
        """
        if self._ready and self._lanes and not self._is_scheduled:
            if self._lanes == LANES or len(self._ready) >= len(self._under_way):
                self._schedule()
            elif self._patience is None:
                self._patience = asyncio.get_running_loop().call_later(PATIENCE_SECONDS, self._schedule)
        while self._held_up_lanes and self._held_up:
            self._held_up_lanes -= 1
            spawn(self._run_held_up(self._held_up.popleft()))

    def _schedule(self) -> None:
        """Start a batch in the event loop's next turn, so that what arrives in this one joins it."""
        if self._patience is not None:
            self._patience.cancel()
            self._patience = None
        self._is_scheduled = True
        self._lanes -= 1
        spawn(self._run())

    def _next(self) -> _Batch:
        """Take the waiting elements of ready owners, in order, up to the limits of a batch."""
        batch: _Batch = []
        size_bytes = 0
        while self._ready and len(batch) < BATCH_ELEMENTS_MAX and size_bytes < BATCH_BYTES_MAX:
            owner = next(iter(self._ready))
            del self._ready[owner]
            queue = self._queues[owner]
            self._under_way.add(owner)
            while queue and len(batch) < BATCH_ELEMENTS_MAX and size_bytes < BATCH_BYTES_MAX:
                batch.append(waiting := queue.popleft())
                size_bytes += waiting.size_bytes
            if not queue:
                del self._queues[owner]
        return batch

    async def _run(self) -> None:
        batch = self._next()
        self._is_scheduled = False
        self._start()
        held_up: dict[Hashable, _Batch] = {}
        for waiting in await _execute(batch, wait=False):
            held_up.setdefault(waiting.element.owner, []).append(waiting)
        self._held_up.extend(held_up.values())
        self._lanes += 1
        self._leave({waiting.element.owner for waiting in batch} - held_up.keys())

    async def _run_held_up(self, batch: _Batch) -> None:
        await _execute(batch, wait=True)
        self._held_up_lanes += 1
        self._leave({batch[0].element.owner})

    def _leave(self, owners: Iterable[Hashable]) -> None:
        self._under_way.difference_update(owners)
        self._ready.update((owner, None) for owner in owners if owner in self._queues)
        self._start()


async def run(element: Element[Row], wait_seconds: float | None = None) -> Row:
    """Run an element in the running loop's next batch, like `Batches.run`."""
    return await _batches.get().run(element, wait_seconds)


_batches = PerLoop(Batches)


async def _execute(batch: _Batch, *, wait: bool) -> _Batch:
    """Run a batch and answer its elements, in case of an error too; return those whose wallet was busy."""
    # In the order of the owners, as whatever else takes locks of several owners after their wallets.
    batch = sorted(
        [waiting for waiting in batch if not waiting.answer.done()],
        key=attrgetter("element.function", "element.owner"),
    )
    for waiting in batch:
        waiting.is_begun = True
    try:
        rows = await _query([waiting.element for waiting in batch], wait=wait)
    except _OWN_FAULTS as error:
        # If a batch waited for a wallet, all its elements belong to that wallet's owner.
        affects_all = isinstance(error, ReadOnlySqlTransaction) or (wait and isinstance(error, LockNotAvailable))
        for waiting in batch:
            waiting.is_begun = False
        if len(batch) > 1 and not affects_all:
            return [busy for waiting in batch for busy in await _execute([waiting], wait=wait)]
        _fail(batch, error)
        return []
    except Exception as error:  # noqa: BLE001 - raised to the elements' callers
        _fail(batch, error)
        return []
    try:
        return [waiting for waiting, row in list(zip(batch, rows, strict=True)) if not _answer(waiting, row)]
    except Exception as error:  # noqa: BLE001 - it is committed, but the rows cannot be assigned to elements
        _fail(batch, Unanswered(f"the ledger's answers do not match the batch's elements: {error!r}"))
        return []


async def _query(elements: list[Element[Any]], *, wait: bool) -> list[tuple[Any, ...]]:
    if not elements:
        return []
    names: list[str] = []
    parameters: list[Any] = [wait]
    for function, group in groupby(elements, attrgetter("function")):
        part = list(group)
        names.append(function.name)
        parameters.append(Elements([element.arguments for element in part]))
        parameters.append(Blobs([element.body for element in part]))
    async with ledger_connection() as connection:
        return await connection.run(_select(tuple(names)), parameters)


@lru_cache
def _select(functions: tuple[str, ...]) -> str:
    """Return a query that calls the functions in order, each with two of the parameters from $2 on, and the flag $1."""
    return " UNION ALL ".join(
        f"SELECT * FROM {name}(${2 * place + 2}, ${2 * place + 3}, $1)"  # noqa: S608 (the names are ours)
        for place, name in enumerate(functions)
    )


def _answer(waiting: _Waiting, row: tuple[Any, ...]) -> bool:
    """Deliver an element's answer. Return False if there is none yet, because its wallet is busy."""
    if row[0].get("outcome") == "busy":
        waiting.is_begun = False
        return False
    if not waiting.answer.done():
        waiting.answer.set_result(row)
    return True


def _fail(batch: _Batch, error: Exception) -> None:
    for waiting in batch:
        if not waiting.answer.done():
            waiting.answer.set_exception(error)
