"""Writes a worker's heartbeats to the row that it executes, and handles its shutdown."""

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, TypeVar

from django.db import Error, InterfaceError, OperationalError, close_old_connections, connection
from django.db.models.functions import Now

from integrations.adapters.programs import Ending, Outcome, Output
from integrations.models.execution import Execution

SILENT_MAX_SECONDS = 15.0
"""The time without a database connection after which a worker stops, so that it ends before its execution is
abandoned.
"""
SHUTDOWN_SECONDS = 5.0
"""How long a worker continues its execution after a shutdown request."""
RETRY_SECONDS = 0.5
"""How long `retry_while_unavailable` waits between attempts."""
BEAT_SECONDS = 2.0
"""How long a heartbeat waits for the database."""
LOST = "The worker that executed this stopped."

Result = TypeVar("Result")
Columns = Callable[[Output], Mapping[str, Any]]


def retry_while_unavailable(action: Callable[[], Result]) -> Result:
    """Return the action's result. If the database is unavailable, retry until this worker would count as dead; then
    raise the error.
    """
    deadline = time.monotonic() + SILENT_MAX_SECONDS
    while True:
        try:
            return action()
        except (InterfaceError, OperationalError):
            if time.monotonic() > deadline:
                raise
        close_old_connections()
        time.sleep(RETRY_SECONDS)


_shutdowns: list[float] = []
"""The time of this worker's shutdown request, if any."""


def request_shutdown() -> None:
    """Record a shutdown request: this worker takes no more executions, and stops its current one after
    `SHUTDOWN_SECONDS`.
    """
    _shutdowns.append(time.monotonic())


def is_shutting_down() -> bool:
    """Return whether this worker is shutting down."""
    return bool(_shutdowns)


def held(row: Execution) -> Any:
    """Return a query that finds the execution while its worker has it, that is until it is over or abandoned."""
    return type(row)._default_manager.filter(id=row.id, worker=row.worker, status__in=Execution.BEGUN)  # noqa: SLF001


class Heartbeat:
    """The tick of a program that a worker executes: about once a second it writes the heartbeat and the output, and
    checks for a cancellation. `columns` converts output to column values.
    """

    def __init__(self, row: Execution, columns: Columns = lambda output: {}) -> None:
        self._row = row
        self._columns = columns
        self._saved: Mapping[str, Any] = {}
        self._reached_at = time.monotonic()
        self._is_lost = False

    def __call__(self, output: Output) -> bool:
        """Write the heartbeat and new output; return False if the execution must stop."""
        self._is_lost = is_shutting_down() and time.monotonic() - _shutdowns[0] > SHUTDOWN_SECONDS
        return not self._is_lost and self._write(output)

    def explained(self, outcome: Outcome) -> Outcome:
        """Return how the execution ended. One that was stopped without a cancellation was lost with its worker."""
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
    """Limit statements to `BEAT_SECONDS`, which is less than a job's limit."""
    connection.ensure_connection()
    with connection.connection.limited_to(BEAT_SECONDS):
        yield
