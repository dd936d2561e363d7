"""Remembers the newest history of the database that this machine has used, and refuses an older one.

A promotion, a point-in-time recovery and a restored dump begin a new history (`accounts_enter_database`). A former primary that
returns still has the history before.
"""

import fcntl
import json
import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from threading import Lock
from typing import NamedTuple

from django.conf import settings

from gateway.core.database.refusals import DatabaseRefused
from gateway.core.runtime.logs import RecurringLog
from gateway.run.files import write_private

ORIGINS_MAX = 20

_problems = RecurringLog("gateway.database", logging.WARNING)


class History(NamedTuple):
    """`origin` is the same in all copies of one database; the one of its histories that began last is valid."""

    origin: str
    began_at: datetime


class OlderDatabase(DatabaseRefused):
    """The server is a former primary, or a copy of the past."""

    reason = "older_database"


class KnownHistories:
    """The newest history of each database, in memory and in a file that the machine's processes share. Thread-safe."""

    def __init__(self, path: Callable[[], Path]) -> None:
        self._path = path
        self._known: dict[str, datetime] = {}
        self._lock = Lock()

    def enter(self, history: History) -> None:
        """Remember a history, durably before this returns. Raises OlderDatabase if a newer one is known."""
        with self._lock:
            try:
                # Nearly every connection brings what the file says. It waits for no other process, which may have been stopped.
                self._merge(stored := self._read())
                if self.is_outdated(history) or stored.get(history.origin) == history.began_at:
                    self._advance(history)
                else:
                    self._store(history)
            except OSError as error:
                self._complain(error)
                self._advance(history)

    def refresh(self) -> None:
        """Learn what other processes of this machine have entered."""
        with self._lock:
            try:
                self._merge(self._read())
            except OSError as error:
                self._complain(error)

    def newest_of(self, origin: str) -> datetime | None:
        """Return when the newest history began that this machine has used of a database."""
        self.refresh()
        return self._known.get(origin)

    def is_outdated(self, history: History | None) -> bool:
        """Return whether a newer history of the same database is known."""
        return history is not None and self._known.get(history.origin, history.began_at) > history.began_at

    def forget(self) -> None:
        """Forget what is in memory, as a new process."""
        with self._lock:
            self._known = {}

    def _advance(self, history: History) -> None:
        if self.is_outdated(history):
            newest = self._known[history.origin]
            raise OlderDatabase(
                f"it is older than the one used before: its history began at {history.began_at:%Y-%m-%d %H:%M:%S.%f} UTC, and the"
                f" newest at {newest:%Y-%m-%d %H:%M:%S.%f} UTC. It may be a former primary. If it was restored on purpose, run"
                " manage.py refuse_earlier_proofs"
            )
        others = [(origin, began_at) for origin, began_at in self._known.items() if origin != history.origin]
        self._known = dict([*others, (history.origin, history.began_at)][-ORIGINS_MAX:])

    def _store(self, history: History) -> None:
        """Add a history to the file. Raises OlderDatabase if another process has added a newer one meanwhile."""
        with self._file() as stored:
            self._merge(stored)
            self._advance(history)
            write_private(self._path(), json.dumps({o: at.isoformat() for o, at in self._known.items()}))

    def _merge(self, stored: dict[str, datetime]) -> None:
        for origin, began_at in stored.items():
            self._known[origin] = max(began_at, self._known.get(origin, began_at))

    @contextmanager
    def _file(self) -> Iterator[dict[str, datetime]]:
        """Lock and read the file."""
        path = self._path()
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.with_suffix(".lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            yield self._read()

    def _read(self) -> dict[str, datetime]:
        try:
            text = self._path().read_text(encoding="utf-8")
            return {origin: _time_of(at) for origin, at in json.loads(text).items()}
        except FileNotFoundError:
            return {}
        except (ValueError, TypeError, AttributeError) as error:  # it is damaged, and replaced by the next history
            self._complain(error)
            return {}

    def _complain(self, error: Exception) -> None:
        _problems.write("file", f"{self._path()} cannot be used to recognize a former primary: {error}")


def _time_of(text: str) -> datetime:
    at = datetime.fromisoformat(text)
    if at.tzinfo is None:
        raise ValueError(f"{text} has no offset from UTC")
    return at


histories = KnownHistories(lambda: Path(settings.DATA_DIR) / "database.json")
