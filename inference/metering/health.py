"""Records the deployments that fail, for every process and the console.

A background thread writes at most once a second what happened since, so no call waits for it or fails because of it. A
success is only written for a deployment that is known to fail.
"""

import logging
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from functools import partial
from threading import Event, Lock
from typing import Any

from django.db import connection, connections, transaction

from gateway.core.runtime.logs import RecurringLog
from inference.interface.model import DeploymentTarget
from inference.interface.upstream import Ambiguous, Failed, OnEnd, Outcome, Overloaded, Rejected, Stream, Unreachable
from inference.metering import routing
from inference.models import DeploymentTrouble
from inference.queries import troubles

PAUSE_SECONDS = 1.0
FINISH_SECONDS = 5.0
CAUSE_MAX_CHARACTERS = 300
WAITING_MAX = 10_000

_unwritten = RecurringLog("inference.health", logging.WARNING)

_FAILED = """
INSERT INTO inference_deployment_trouble AS t (deployment, cause, failures, since, last_at, aside_until)
VALUES (%(deployment)s, %(cause)s, %(failures)s, %(since)s, %(last_at)s, %(aside_until)s)
ON CONFLICT (deployment) DO UPDATE
  SET failures = CASE WHEN %(is_first)s THEN 0 ELSE t.failures END + EXCLUDED.failures,
      since = CASE WHEN %(is_first)s THEN EXCLUDED.since ELSE least(t.since, EXCLUDED.since) END,
      cause = CASE WHEN t.last_at > EXCLUDED.last_at THEN t.cause ELSE EXCLUDED.cause END,
      aside_until = CASE WHEN t.last_at > EXCLUDED.last_at THEN t.aside_until ELSE EXCLUDED.aside_until END,
      last_at = greatest(t.last_at, EXCLUDED.last_at)
"""


@dataclass(frozen=True, slots=True)
class Health:
    """What a deployment's attempts since the last write came to: `failures` after the last success, if any.

    `is_first`: an attempt succeeded before these failures. Without failures, the last attempt succeeded.
    """

    last_at: datetime
    failures: int = 0
    since: datetime | None = None
    cause: str = ""
    aside_until: datetime | None = None
    is_first: bool = False


def note(deployment: DeploymentTarget, outcome: Outcome | Stream) -> None:
    """Record an attempt's outcome. Call it after the deployment's breaker has been updated."""
    if isinstance(outcome, Stream):
        outcome.on_end = partial(_note_end, deployment, outcome.on_end)
        return
    cause = _cause_of(outcome)
    if cause is None:
        succeeded(deployment)
    else:
        failed(deployment, cause)


def succeeded(deployment: DeploymentTarget) -> None:
    """Record a success, if the deployment is known to fail."""
    if troubles.forget(deployment.id):
        _notes.add(deployment.id, Health(datetime.now(UTC)))


def failed(deployment: DeploymentTarget, cause: str) -> None:
    """Record a failure with its cause."""
    now = datetime.now(UTC)
    aside_seconds = routing.aside_seconds(deployment)
    aside_until = now + timedelta(seconds=aside_seconds) if aside_seconds else None
    troubles.add(deployment.id)
    _notes.add(deployment.id, Health(now, 1, now, cause[:CAUSE_MAX_CHARACTERS].replace("\x00", ""), aside_until))


def finish() -> None:
    """Write what is pending before the process exits. Raises TimeoutError if the database is too slow."""
    _notes.finish()


def _note_end(deployment: DeploymentTarget, on_end: OnEnd | None, whole: bool) -> None:
    if on_end is not None:
        on_end(whole)
    if whole:
        succeeded(deployment)
    else:
        failed(deployment, "its stream broke off")


def _cause_of(outcome: Outcome) -> str | None:
    """Return why an attempt failed; None if it did not, or the client's request was at fault."""
    match outcome:
        case Rejected(alarm=None):
            return None
        case Rejected(alarm=alarm) | Overloaded(alarm=alarm) | Failed(alarm=alarm) if alarm:
            return alarm.text
        case Overloaded(cause=cause):
            return cause or "it is overloaded"
        case Failed(status=status, cause=cause):
            return cause or f"it answered {status}"
        case Unreachable(cause=cause):
            return f"it cannot be reached: {cause}"
        case Ambiguous(reason=reason):
            return reason
    return None


class _Notes:
    """Keeps what happened to each deployment until it is written. Thread-safe."""

    def __init__(self) -> None:
        self._waiting: dict[str, Health] = {}
        self._is_writing = False
        self._lock = Lock()
        self._hurry = Event()
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="health")

    def add(self, deployment: str, health: Health) -> None:
        """Add an outcome. Never raises and never waits for the database."""
        with self._lock:
            if len(self._waiting) >= WAITING_MAX and deployment not in self._waiting:
                return
            self._waiting[deployment] = _merged(self._waiting.get(deployment), health)
            if self._is_writing:
                return
            with suppress(RuntimeError):  # the process is exiting
                self._thread.submit(self._write_all)
                self._is_writing = True

    def finish(self) -> None:
        self._hurry.set()
        self._thread.submit(self._hurry.clear).result(timeout=FINISH_SECONDS)

    def _write_all(self) -> None:
        while taken := self._take():
            try:
                write(taken)
            except Exception as error:  # noqa: BLE001 - what was taken is kept; the next outcome retries it
                self._put_back(taken)
                _unwritten.write(type(error).__name__, f"could not record health: {type(error).__name__}: {error}")
                return
            finally:
                connections.close_all()  # this thread's own
            self._hurry.wait(PAUSE_SECONDS)

    def _take(self) -> dict[str, Health]:
        with self._lock:
            taken, self._waiting = self._waiting, {}
            self._is_writing = bool(taken)
            return taken

    def _put_back(self, taken: Mapping[str, Health]) -> None:
        with self._lock:
            self._waiting = {key: _merged(health, self._waiting.get(key)) for key, health in taken.items()} | {
                key: health for key, health in self._waiting.items() if key not in taken
            }
            self._is_writing = False


def _merged(earlier: Health | None, later: Health | None) -> Health:
    """Merge two of one deployment, of which at least one is known."""
    if earlier is None or later is None:
        return earlier or later or Health(datetime.now(UTC))
    if not later.failures or later.is_first:
        return later
    if not earlier.failures:
        return replace(later, is_first=True)
    return replace(later, failures=earlier.failures + later.failures, since=earlier.since, is_first=earlier.is_first)


@transaction.atomic
def write(outcomes: Mapping[str, Health]) -> None:
    """Record what happened to deployments, in the order of their ids."""
    for deployment, health in sorted(outcomes.items()):
        if health.failures:
            _write_failures(deployment, health)
        else:
            DeploymentTrouble.objects.filter(deployment=deployment, last_at__lte=health.last_at).delete()


def _write_failures(deployment: str, health: Health) -> None:
    row: dict[str, Any] = {
        "deployment": deployment,
        "cause": health.cause,
        "failures": health.failures,
        "since": health.since,
        "last_at": health.last_at,
        "aside_until": health.aside_until,
        "is_first": health.is_first,
    }
    with connection.cursor() as cursor:
        cursor.execute(_FAILED, row)


_notes = _Notes()
