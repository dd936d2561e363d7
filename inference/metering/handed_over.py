"""Closes the calls in a copy of a dead machine's journals, on any machine of the gateway.

Nothing in the copy is changed, so it may be read-only, and read again: each closing is a compare-and-set in the ledger. A copy may be
older than what its process did last, and that process may even live. So it proves of no call that it was not sent: such a call goes
to review, from which its own process or machine can still close it.
"""

import fcntl
import os
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from gateway.core.database.clock import database_now
from inference.metering import recovery
from inference.metering.journal import SUFFIX, is_cut_off, leftovers
from inference.metering.journal_folder import read_id
from inference.metering.recovery import DEAD, FAILED, UNKNOWN
from inference.operations import journal_folders
from inference.queries.journal_folders import is_read


class FolderInUse(Exception):
    """A process of the gateway reads the folder that was copied."""


@dataclass(slots=True)
class HandedOver:
    """What became of the calls in a folder: how many by outcome, the ids of those that the ledger does not know or could not close
    yet, the journals that belong to living processes and were not read, and those whose end is missing."""

    files: int = 0
    outcomes: Counter[str] = field(default_factory=Counter)
    unknown: list[str] = field(default_factory=list)
    failed: list[str] = field(default_factory=list)
    in_use: list[str] = field(default_factory=list)
    cut_off: list[str] = field(default_factory=list)

    @property
    def is_done(self) -> bool:
        """Return whether nothing has to be tried again."""
        return not (self.failed or self.in_use or self.cut_off)


def take_over(folder: Path) -> HandedOver:
    """Close the calls in `folder`; if all are, nothing more is expected of it. May be stopped anywhere, and run again or twice at once.

    Raises FolderInUse, OSError if a file cannot be read, and DatabaseError if the database is away.
    """
    folder_id = read_id(folder)
    if folder_id is not None and is_read(folder_id, now=database_now()):
        raise FolderInUse
    found = HandedOver()
    for path in journals_in(folder):
        _take_over(path, found)
    if found.is_done and folder_id is not None:
        journal_folders.settle(folder_id, now=database_now())
    return found


def journals_in(folder: Path) -> list[Path]:
    """Return the journals in a folder, of living and of dead processes."""
    return sorted(path for suffix in (SUFFIX, DEAD) for path in folder.glob(f"*{suffix}"))


def _take_over(path: Path, found: HandedOver) -> None:
    with _read(path) as data:
        if data is None:
            found.in_use.append(path.name)
            return
        found.files += 1
        if is_cut_off(data):
            found.cut_off.append(path.name)
        for leftover in leftovers(data):
            outcome = recovery.close(leftover, is_complete=False)
            found.outcomes[outcome] += 1
            if outcome in (UNKNOWN, FAILED):
                (found.unknown if outcome == UNKNOWN else found.failed).append(leftover.usage_id)


@contextmanager
def _read(path: Path) -> Iterator[bytes | None]:
    """Read a journal, None if its process is alive. It is kept from recovery for as long as it is read."""
    file = os.open(path, os.O_RDONLY)
    try:
        try:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            yield None
        else:
            yield os.pread(file, os.fstat(file).st_size, 0)
    finally:
        os.close(file)
