"""Who executes what: taken by one worker, kept alive by its heartbeat, and given up where the heartbeat stops."""

import hashlib
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from datetime import timedelta
from typing import Any, TypeVar
from uuid import uuid4

import orjson
from django.conf import settings
from django.db import Error, InterfaceError, OperationalError, close_old_connections, connection
from django.db.models import QuerySet
from django.db.models.functions import Now
from django.utils import timezone

from accounts.rules.principal import Principal
from gateway.core.contract.errors import IdempotencyKeyReused, RateLimited
from gateway.core.contract.limits import ACTIVE_EXECUTIONS_MAX
from gateway.core.database.purge import purge as purge_rows
from integrations.adapters.programs import Ending, Outcome, Output
from integrations.models.execution import Execution

STALE_SECONDS = 30
"""After so long without a heartbeat a worker counts as dead."""
SILENT_MAX_SECONDS = 15.0
"""After so long without reaching the database a worker stops, so that it never outlives its being given up."""
LEAVE_SECONDS = 5.0
"""How long after it was asked to end a worker goes on with what it executes."""
UNTAKEN_SECONDS = 15
RETRY_SECONDS = 0.5
BEAT_SECONDS = 2.0
"""How long a heartbeat waits for an answer of the database."""
MESSAGE_SECONDS = 60
"""A message that no worker read in time is dropped; another one was sent by then."""
BATCH = 100
"""Rows hold the output of programs, up to half a megabyte."""
LOST = "The worker that executed this stopped."

Row = TypeVar("Row", bound=Execution)
Result = TypeVar("Result")
Columns = Callable[[Output], Mapping[str, Any]]


def fingerprint(body: Mapping[str, Any]) -> str:
    """Return what tells one request's body from another."""
    return hashlib.sha256(orjson.dumps(body, option=orjson.OPT_SORT_KEYS)).hexdigest()


def requested_before(found: QuerySet[Row], principal: Principal, values: Mapping[str, Any]) -> Row | None:
    """Return the caller's execution with the body's key, if there is one. Raises IdempotencyKeyReused where that came
    with another body."""
    key = values.get("idempotencyKey")
    if key is None:
        return None
    known = found.filter(requested_by=principal.did, idempotency_key=key).first()
    if known is not None and known.fingerprint != fingerprint(values):
        raise IdempotencyKeyReused(param="idempotencyKey")
    return known


def check_room(found: QuerySet[Any], of_whom: str) -> None:
    """Refuse one more beside so many that are not over. Raises RateLimited."""
    if found.filter(status__in=Execution.ACTIVE).count() >= ACTIVE_EXECUTIONS_MAX:
        raise RateLimited(f"{ACTIVE_EXECUTIONS_MAX} {of_whom} are queued or running already.")


def request_columns(principal: Principal, values: Mapping[str, Any]) -> dict[str, Any]:
    """Return who asked for an execution, when, and what tells the request from others."""
    return {
        "requested_by": principal.did,
        "idempotency_key": values.get("idempotencyKey"),
        "fingerprint": fingerprint(values),
        "created_at": timezone.now(),
    }


def take(model: type[Row], execution_id: str) -> Row | None:
    """Take a queued execution for this worker; None where another has it, it is over, or this worker is about to end."""
    if _leaving:
        return None
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


def persistently(action: Callable[[], Result]) -> Result:
    """Return what an action in the database comes to; one that fails because the database is away is tried again for as
    long as this worker does not count as dead."""
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
    """Begin to end what this worker executes; it has `LEAVE_SECONDS`."""
    _leaving.append(time.monotonic())


class Heartbeat:
    """Says about once a second that a worker lives, and hears whether it shall go on."""

    def __init__(self, row: Execution, columns: Columns = lambda output: {}) -> None:
        self._row = row
        self._columns = columns
        self._saved: Mapping[str, Any] = {}
        self._reached_at = time.monotonic()
        self._is_lost = False

    def __call__(self, output: Output) -> bool:
        """Write what is new; return False where the execution is to be stopped."""
        self._is_lost = bool(_leaving) and time.monotonic() - _leaving[0] > LEAVE_SECONDS
        return not self._is_lost and self._write(output)

    def explained(self, outcome: Outcome) -> Outcome:
        """Return how the execution ended: what nobody asked to be stopped was lost with its worker."""
        is_lost = self._is_lost and outcome.ending is Ending.STOPPED
        return Outcome(Ending.WORKER_LOST, reason=LOST) if is_lost else outcome

    def _write(self, output: Output) -> bool:
        columns = self._columns(output)
        changed = {} if columns == self._saved else columns
        try:
            with _bounded():
                alive = _mine(self._row).update(heartbeat_at=Now(), **changed)
                goes_on = alive and _mine(self._row).filter(status=Execution.Status.RUNNING).exists()
        except Error:
            close_old_connections()
            self._is_lost = time.monotonic() - self._reached_at >= SILENT_MAX_SECONDS
            return not self._is_lost
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


@contextmanager
def _bounded() -> Iterator[None]:
    """Wait for the database as a heartbeat does, not as a job."""
    connection.ensure_connection()
    with connection.connection.limited_to(BEAT_SECONDS):
        yield


def _mine(row: Execution) -> Any:
    return type(row)._default_manager.filter(id=row.id, worker=row.worker, status__in=Execution.BEGUN)  # noqa: SLF001
