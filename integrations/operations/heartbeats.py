"""The life of a worker: its heartbeat in the row of what it executes, and how it ends."""

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, TypeVar

from django.db import Error, InterfaceError, OperationalError, close_old_connections, connection
from django.db.models.functions import Now

from integrations.adapters.programs import Ending, Outcome, Output
from integrations.models.execution import Execution

SILENT_MAX_SECONDS = 15.0
"""After so long without reaching the database a worker stops, so that it never outlives its being given up."""
LEAVE_SECONDS = 5.0
"""How long after it was asked to end a worker goes on with what it executes."""
RETRY_SECONDS = 0.5
"""How long `persistently` waits before it tries again."""
BEAT_SECONDS = 2.0
"""How long a heartbeat waits for an answer of the database."""
LOST = "The worker that executed this stopped."

Result = TypeVar("Result")
Columns = Callable[[Output], Mapping[str, Any]]


def persistently(action: Callable[[], Result]) -> Result:
    """Return the action's result. One that fails because the database is away is tried again, until this worker would
    count as dead; then the error is raised."""
    deadline = time.monotonic() + SILENT_MAX_SECONDS
    while True:
        try:
            return action()
        except (InterfaceError, OperationalError):
            if time.monotonic() > deadline:
                raise
        close_old_connections()
        time.sleep(RETRY_SECONDS)


_leaving: list[float] = []
"""When this worker was asked to end, if it was."""


def leave() -> None:
    """Note that this worker was asked to end: it takes nothing more, and after `LEAVE_SECONDS` stops what it executes."""
    _leaving.append(time.monotonic())


def is_leaving() -> bool:
    """Return whether this worker was asked to end."""
    return bool(_leaving)


def held(row: Execution) -> Any:
    """Return a query that finds the execution for as long as its worker has it: not once it is over or was
    abandoned."""
    return type(row)._default_manager.filter(id=row.id, worker=row.worker, status__in=Execution.BEGUN)  # noqa: SLF001


class Heartbeat:
    """The tick of a program that a worker executes: writes about once a second that the worker lives and what the
    program has written, and learns whether somebody cancelled it. `columns` turns output into the row's values."""

    def __init__(self, row: Execution, columns: Columns = lambda output: {}) -> None:
        self._row = row
        self._columns = columns
        self._saved: Mapping[str, Any] = {}
        self._reached_at = time.monotonic()
        self._is_lost = False

    def __call__(self, output: Output) -> bool:
        """Write what is new; return False where the execution is to be stopped."""
        self._is_lost = is_leaving() and time.monotonic() - _leaving[0] > LEAVE_SECONDS
        return not self._is_lost and self._write(output)

    def explained(self, outcome: Outcome) -> Outcome:
        """Return how the execution ended: one that was stopped without a request was lost with its worker."""
        is_lost = self._is_lost and outcome.ending is Ending.STOPPED
        return Outcome(Ending.WORKER_LOST, reason=LOST) if is_lost else outcome

    def _write(self, output: Output) -> bool:
        columns = self._columns(output)
        changed = {} if columns == self._saved else columns
        try:
            with _bounded():
                alive = held(self._row).update(heartbeat_at=Now(), **changed)
                goes_on = alive and held(self._row).filter(status=Execution.Status.RUNNING).exists()
        except Error:
            close_old_connections()
            self._is_lost = time.monotonic() - self._reached_at >= SILENT_MAX_SECONDS
            return not self._is_lost
        self._saved, self._reached_at = columns, time.monotonic()
        return bool(goes_on)


@contextmanager
def _bounded() -> Iterator[None]:
    """Have statements wait `BEAT_SECONDS` for the database, and not as long as those of a job."""
    connection.ensure_connection()
    with connection.connection.limited_to(BEAT_SECONDS):
        yield
