"""Who executes what: taken by one worker, kept alive by its heartbeat, and given up where the heartbeat stops."""

import hashlib
import time
from collections.abc import Callable, Mapping
from datetime import timedelta
from typing import Any, TypeVar
from uuid import uuid4

import orjson
from django.conf import settings
from django.db import Error, close_old_connections
from django.db.models.functions import Now

from gateway.core.database.purge import purge as purge_rows
from integrations.adapters.programs import Output
from integrations.models.execution import Execution

STALE_SECONDS = 30
"""After so long without a heartbeat a worker counts as dead."""
SILENT_MAX_SECONDS = 20.0
"""After so long without reaching the database a worker stops, so that it never outlives its being given up."""
UNTAKEN_SECONDS = 15
MESSAGE_SECONDS = 60
"""A message that no worker read in time is dropped; another one was sent by then."""
BATCH = 100
"""Rows hold the output of programs, up to half a megabyte."""
LOST = "The worker that executed this stopped."

Row = TypeVar("Row", bound=Execution)
Columns = Callable[[Output], Mapping[str, Any]]


def fingerprint(body: Mapping[str, Any]) -> str:
    """Return what tells one request's body from another."""
    return hashlib.sha256(orjson.dumps(body, option=orjson.OPT_SORT_KEYS)).hexdigest()


def take(model: type[Row], execution_id: str) -> Row | None:
    """Take a queued execution for this worker; None where another has it, or it is over."""
    worker = uuid4().hex
    queued = model._default_manager.filter(id=execution_id, status=Execution.Status.QUEUED)  # noqa: SLF001 (documented)
    started = {"status": Execution.Status.RUNNING, "started_at": Now(), "heartbeat_at": Now(), "worker": worker}
    if not queued.update(**started):
        return None
    return model._default_manager.get(id=execution_id)  # noqa: SLF001 (documented)


def finish(row: Execution, status: Execution.Status, **values: Any) -> bool:
    """End an execution; return False where it was given up meanwhile, and nothing is changed then."""
    over = {"status": status, "finished_at": Now(), "inputs": "", **values}
    return bool(_mine(row).update(**over))


class Heartbeat:
    """Says about once a second that a worker lives, and hears whether it shall go on."""

    def __init__(self, row: Execution, columns: Columns = lambda output: {}) -> None:
        self._row = row
        self._columns = columns
        self._saved: Mapping[str, Any] = {}
        self._reached_at = time.monotonic()

    def __call__(self, output: Output) -> bool:
        """Write what is new; return False where the execution is to be stopped."""
        columns = self._columns(output)
        changed = {} if columns == self._saved else columns
        try:
            alive = _mine(self._row).update(heartbeat_at=Now(), **changed)
            goes_on = alive and _mine(self._row).filter(status=Execution.Status.RUNNING).exists()
        except Error:
            close_old_connections()
            return time.monotonic() - self._reached_at < SILENT_MAX_SECONDS
        self._saved, self._reached_at = columns, time.monotonic()
        return bool(goes_on)


def give_up(model: type[Execution]) -> int:
    """End the executions whose worker is dead; return how many."""
    stale = model._default_manager.filter(  # noqa: SLF001 (documented)
        status__in=Execution.BEGUN, heartbeat_at__lt=Now() - timedelta(seconds=STALE_SECONDS)
    )
    over = {"worker": "", "inputs": "", "finished_at": Now()}
    cancelled = stale.filter(status=Execution.Status.CANCELLING).update(status=Execution.Status.CANCELLED, **over)
    failed = {"status": Execution.Status.FAILED, "reason": LOST, "error_code": "worker_lost"}
    return cancelled + stale.filter(status=Execution.Status.RUNNING).update(**failed, **over)


def untaken(model: type[Execution]) -> list[str]:
    """Name executions that wait although their message should have been read: it may be lost."""
    waiting = model._default_manager.filter(  # noqa: SLF001 (documented)
        status=Execution.Status.QUEUED, created_at__lt=Now() - timedelta(seconds=UNTAKEN_SECONDS)
    )
    return list(waiting.order_by("created_at").values_list("id", flat=True)[:100])


def purge(model: type[Execution]) -> int:
    """Delete what has been over for long; return how many."""
    over = model._default_manager.filter(  # noqa: SLF001 (documented)
        finished_at__lt=Now() - timedelta(days=settings.EXECUTION_DAYS)
    )
    return purge_rows(over.order_by("finished_at"), batch=BATCH)


def _mine(row: Execution) -> Any:
    return type(row)._default_manager.filter(id=row.id, worker=row.worker, status__in=Execution.BEGUN)  # noqa: SLF001
