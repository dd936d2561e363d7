"""The calls that processes had open when they were killed, and when each of them was closed."""

import threading
import time
from dataclasses import dataclass
from pathlib import Path

import psycopg

from inference.metering.journal import SUFFIX, leftovers
from tests.chaos.database import Database

DEAD = ".dead"
"""As recovery renames the journal of a process that has died; importing it needs Django."""

LOOK_SECONDS = 0.5

CLOSED = "SELECT id, state FROM billing_reservation WHERE id = ANY(%s) AND state <> 'dispatched'"
KNOWN = "SELECT id FROM billing_reservation WHERE id = ANY(%s)"


@dataclass(slots=True)
class Orphan:
    """A call whose process was killed at `killed_at`. `closed_at` is when it was first seen closed, or left to review."""

    usage_id: str
    stage: str
    node: str
    killed_at: float
    closed_at: float | None = None
    state: str = ""

    @property
    def seconds(self) -> float | None:
        """Return how long it was open after the kill."""
        return None if self.closed_at is None else self.closed_at - self.killed_at


class Deaths:
    """Watches the orphans in a thread, as a context manager."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._orphans: dict[str, Orphan] = {}
        self._is_over = threading.Event()
        self._thread = threading.Thread(target=self._watch, name="deaths")

    def __enter__(self) -> "Deaths":
        self._thread.start()
        return self

    def __exit__(self, *exc: object) -> None:
        self._is_over.set()
        self._thread.join()

    def note(self, node: str, folder: Path, pid: int, killed_at: float) -> int:
        """Read what a killed process had open, from its journal, before anybody closes it; return how many calls."""
        found = 0
        for path in (path for suffix in (SUFFIX, DEAD) for path in folder.glob(f"{pid}-*{suffix}")):
            for left in leftovers(path.read_bytes()):
                self._orphans.setdefault(left.usage_id, Orphan(left.usage_id, left.stage.name.lower(), node, killed_at))
                found += 1
        return found

    def orphans(self) -> list[Orphan]:
        """Return those that the ledger knows. A hold that never reached it holds no money."""
        with self._database.connect() as connection:
            known = {usage_id for (usage_id,) in connection.execute(KNOWN, [list(self._orphans)])}
        return [orphan for orphan in self._orphans.values() if orphan.usage_id in known]

    def look(self) -> None:
        """Note which of them have been closed by now."""
        waiting = [orphan.usage_id for orphan in list(self._orphans.values()) if orphan.closed_at is None]
        if not waiting:
            return
        with self._database.connect() as connection:
            for usage_id, state in connection.execute(CLOSED, [waiting]):
                self._orphans[usage_id].closed_at, self._orphans[usage_id].state = time.time(), state

    def _watch(self) -> None:
        while not self._is_over.wait(LOOK_SECONDS):
            try:
                self.look()
            except psycopg.OperationalError:
                continue
