"""Problems that only the operator can fix: logged at once, and recorded with the upstream for the console.

The note is written by a thread beside the calls, at most once a second: no call waits for it or fails by it.
"""

import logging
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from threading import Event, Lock

from django.db import connections, models

from gateway.core.api.logs import RecurringLog
from gateway.core.contract.errors import ModelUnavailable
from inference.models import Upstream
from inference.rules.upstream import Alarm, Rejected

PAUSE_SECONDS = 1.0
FINISH_SECONDS = 5.0

_told = RecurringLog("inference.alarms", logging.ERROR)
_unwritten = RecurringLog("inference.alarms", logging.WARNING)


@dataclass(frozen=True, slots=True)
class Note:
    """The alarms of one upstream that are not written yet: how many, the last one's text and when."""

    text: str
    at: datetime
    count: int


class Notes:
    """Collects alarms by upstream, and writes them behind. Safe in threads."""

    def __init__(self, write: Callable[[str, Note], None]) -> None:
        self._write = write
        self._waiting: dict[str, Note] = {}
        self.is_writing = False
        self._lock = Lock()
        self._hurry = Event()
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="alarms")

    def add(self, upstream: str, note: Note) -> None:
        """Note an alarm. Never raises and never waits for the database."""
        with self._lock:
            self._merge(upstream, note)
            if self.is_writing:
                return
            with suppress(RuntimeError):  # the process ends
                self._thread.submit(self._write_all)
                self.is_writing = True

    def finish(self) -> None:
        """Write what waits without further pauses, and return when that is done; at once where nothing waits."""
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
            except Exception as error:  # noqa: BLE001 - kept; the next alarm tries again
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


def sound(upstream: str, alarm: Alarm, usage_id: str) -> None:
    """Record an alarm at an upstream of this name for the operator."""
    _told.write(f"{upstream} {alarm.cause}", f"{alarm.text} (call {usage_id})")
    _notes.add(upstream, Note(alarm.text, datetime.now(UTC), 1))


def finish() -> None:
    """Write what waits, as the process is about to end. Raises TimeoutError where the database is too slow."""
    _notes.finish()


def unservable(model: str, route: str) -> Rejected:
    """Refuse a call that no deployment can serve, and tell the operator."""
    alarm = Alarm("no deployment", f"no deployment can serve {model} on {route}")
    _told.write(f"{model} {route} {alarm.cause}", alarm.text)
    return Rejected(ModelUnavailable(private=alarm.text), alarm=alarm)


def write(upstream: str, note: Note) -> None:
    """Note alarms at the upstream of this name, if it is still there."""
    Upstream.objects.filter(name=upstream).update(
        alarms=models.F("alarms") + note.count, last_alarm=note.text, last_alarm_at=note.at
    )


_notes = Notes(write)
