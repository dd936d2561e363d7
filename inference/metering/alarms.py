"""Reports problems that only the operator can fix: logs them at once and records them with the upstream for the console.

A background thread writes the records, at most one a second, so no call waits for them or fails because of them.
"""

import logging
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from threading import Event, Lock

from django.db import connections, models

from gateway.core.contract.errors import ModelUnavailable
from gateway.core.runtime.logs import RecurringLog
from inference.interface.upstream import Alarm, Rejected
from inference.models import Upstream

PAUSE_SECONDS = 1.0
FINISH_SECONDS = 5.0

_reported = RecurringLog("inference.alarms", logging.ERROR)
_unwritten = RecurringLog("inference.alarms", logging.WARNING)


@dataclass(frozen=True, slots=True)
class Note:
    """The alarms of one upstream that are not written yet: their count, and the text and time of the latest."""

    text: str
    at: datetime
    count: int


class Notes:
    """Collects alarms by upstream and writes them in the background. Thread-safe."""

    def __init__(self, write: Callable[[str, Note], None]) -> None:
        self._write = write
        self._waiting: dict[str, Note] = {}
        self.is_writing = False
        self._lock = Lock()
        self._hurry = Event()
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="alarms")

    def add(self, upstream: str, note: Note) -> None:
        """Add an alarm. Never raises and never waits for the database."""
        with self._lock:
            self._merge(upstream, note)
            if self.is_writing:
                return
            with suppress(RuntimeError):  # the process is exiting
                self._thread.submit(self._write_all)
                self.is_writing = True

    def finish(self) -> None:
        """Write all pending notes without further pauses, and wait until that is done."""
        self._hurry.set()
        self._thread.submit(self._hurry.clear).result(timeout=FINISH_SECONDS)

    def _merge(self, upstream: str, note: Note) -> None:
        if waiting := self._waiting.get(upstream):
            latest = max(waiting, note, key=lambda each: each.at)
            note = replace(latest, count=waiting.count + note.count)
        self._waiting[upstream] = note

    def _write_all(self) -> None:
        while taken := self._take():
            try:
                self._write(*taken)
            except Exception as error:  # noqa: BLE001 - the note is kept; the next alarm retries it
                self._put_back(*taken)
                _unwritten.write(type(error).__name__, f"could not record an alarm: {type(error).__name__}: {error}")
                return
            finally:
                connections.close_all()  # this thread's own
            self._hurry.wait(PAUSE_SECONDS)

    def _take(self) -> tuple[str, Note] | None:
        with self._lock:
            self.is_writing = bool(self._waiting)
            return self._waiting.popitem() if self._waiting else None

    def _put_back(self, upstream: str, note: Note) -> None:
        with self._lock:
            self._merge(upstream, note)
            self.is_writing = False


def report(upstream: str, alarm: Alarm, usage_id: str) -> None:
    """Report an alarm about the upstream of this name to the operator."""
    _reported.write(f"{upstream} {alarm.cause}", f"{alarm.text} (call {usage_id})")
    _notes.add(upstream, Note(alarm.text, datetime.now(UTC), 1))


def finish() -> None:
    """Write all pending notes before the process exits. Raises TimeoutError if the database is too slow."""
    _notes.finish()


def unservable(model: str, route: str) -> Rejected:
    """Refuse a call that no deployment can serve, and notify the operator."""
    alarm = Alarm("no deployment", f"no deployment can serve {model} on {route}")
    _reported.write(f"{model} {route} {alarm.cause}", alarm.text)
    return Rejected(ModelUnavailable(private=alarm.text), alarm=alarm)


def write(upstream: str, note: Note) -> None:
    """Record alarms with the upstream of this name, if it still exists."""
    Upstream.objects.filter(name=upstream).update(
        alarms=models.F("alarms") + note.count, last_alarm=note.text, last_alarm_at=note.at
    )


_notes = Notes(write)
