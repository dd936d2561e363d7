"""Alarms that wait to be written: a background thread writes them, at most one a second, so no call waits for them or fails
because of them."""

import logging
from collections.abc import Callable, Hashable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime
from threading import Event, Lock
from typing import Generic, TypeVar

from django.db import connections

from gateway.core.runtime.logs import RecurringLog

PAUSE_SECONDS = 1.0
FINISH_SECONDS = 5.0
WAITING_MAX = 1000
"""The most kinds of alarms that wait. An upstream that invents kinds faster than they are written fills no memory."""

Key = TypeVar("Key", bound=Hashable)

_unwritten = RecurringLog("inference.alarms", logging.WARNING)


@dataclass(frozen=True, slots=True)
class Note:
    """The alarms of one kind that are not written yet: their count, and the text and time of the latest."""

    text: str
    at: datetime
    count: int


class Notes(Generic[Key]):
    """Collects alarms by their kind, such as the upstream's name, and writes them in the background. Thread-safe."""

    def __init__(self, write: Callable[[Key, Note], None]) -> None:
        self._write = write
        self._waiting: dict[Key, Note] = {}
        self.is_writing = False
        self._lock = Lock()
        self._hurry = Event()
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="alarms")

    def add(self, key: Key, note: Note) -> None:
        """Add an alarm, unless too many of other kinds wait. Never raises and never waits for the database."""
        with self._lock:
            if len(self._waiting) >= WAITING_MAX and key not in self._waiting:
                return
            self._merge(key, note)
            if self.is_writing:
                return
            with suppress(RuntimeError):  # the process is exiting
                self._thread.submit(self._write_all)
                self.is_writing = True

    def finish(self) -> None:
        """Write all pending notes without further pauses, and wait until that is done."""
        self._hurry.set()
        self._thread.submit(self._hurry.clear).result(timeout=FINISH_SECONDS)

    def _merge(self, key: Key, note: Note) -> None:
        if waiting := self._waiting.get(key):
            latest = max(waiting, note, key=lambda each: each.at)
            note = replace(latest, count=waiting.count + note.count)
        self._waiting[key] = note

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

    def _take(self) -> tuple[Key, Note] | None:
        with self._lock:
            self.is_writing = bool(self._waiting)
            return self._waiting.popitem() if self._waiting else None

    def _put_back(self, key: Key, note: Note) -> None:
        with self._lock:
            self._merge(key, note)
            self.is_writing = False
