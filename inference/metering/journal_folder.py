"""Tells the database that a folder of journals is read, so that one that nobody reads is noticed.

A folder has an id, in a file beside its journals, so that it is known again wherever it is mounted or copied to.
"""

import fcntl
import logging
import os
import socket
import time
from pathlib import Path
from uuid import UUID, uuid4

from gateway.core.database.clock import database_now
from inference.metering.journal import SUFFIX
from inference.metering.recovery import DEAD
from inference.operations import journal_folders
from inference.operations.journal_folders import Contents
from inference.queries.journal_folders import UNREAD_AFTER

ID_FILE = "folder-id"

REPORT_SECONDS = 10.0

log = logging.getLogger("inference.journals")


def read_id(folder: Path) -> UUID | None:
    """Return the folder's id, None if it has none. Raises OSError if it cannot be read."""
    try:
        return _uuid((folder / ID_FILE).read_bytes())
    except FileNotFoundError:
        return None


def make_id(folder: Path) -> UUID:
    """Return the folder's id, which is made if it has none. Raises OSError if it cannot be written."""
    file = os.open(folder / ID_FILE, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        fcntl.flock(file, fcntl.LOCK_EX)  # of several processes, one makes it
        found = _uuid(os.pread(file, 64, 0))
        if found is None:
            found = uuid4()
            os.ftruncate(file, 0)
            os.pwrite(file, str(found).encode(), 0)
            os.fsync(file)
        return found
    finally:
        os.close(file)


def look(folder: Path, now: float) -> Contents:
    """Return what is in a folder. A dead journal's time is when it was found dead (`recovery`)."""
    dead = [path.stat().st_mtime for path in folder.glob(f"*{DEAD}") if path.exists()]
    files = len(dead) + len(list(folder.glob(f"*{SUFFIX}")))
    return Contents(files, max(0.0, now - min(dead)) if dead else None)


class FolderReports:
    """What one reader reports of its folder. `serves`: its process may begin a journal at any moment."""

    def __init__(self, folder: Path, *, serves: bool) -> None:
        self._folder, self._serves = folder, serves
        self._host = socket.gethostname()
        self._reported_at = -REPORT_SECONDS
        self._reading_since: float | None = None

    def report(self) -> None:
        """Report that the folder was read just now, every few seconds. Log the folders that need a person."""
        at = time.monotonic()
        if at - self._reported_at < REPORT_SECONDS:
            return
        contents = look(self._folder, time.time())
        if self._serves:
            self._folder.mkdir(parents=True, exist_ok=True)
            contents = Contents(max(1, contents.files), contents.waiting_seconds)
        if contents.files or read_id(self._folder) is not None:
            path, now = str(self._folder.absolute()), database_now()
            journal_folders.report(make_id(self._folder), host=self._host, path=path, contents=contents, now=now)
        self._reported_at = at
        self._reading_since = at if self._reading_since is None else self._reading_since
        # While the database was away, nobody could report: the others get the time to do so.
        if at - self._reading_since > UNREAD_AFTER.total_seconds():
            self._log()

    def miss(self) -> None:
        """Note that the folder could not be read, or that nobody could be told."""
        self._reading_since = None

    def leave(self) -> None:
        """Report what is left when the reader ends. Raises what the database raises."""
        if (folder_id := read_id(self._folder)) is not None:
            journal_folders.leave(folder_id, look=lambda: look(self._folder, time.time()), now=database_now())

    def _log(self) -> None:
        now = database_now()
        for row in journal_folders.take_to_log(now=now):
            if row.waiting_since is not None and row.read_at >= now - UNREAD_AFTER:
                log.error("a journal in %s on %s has not been closed since %s", row.path, row.host, row.waiting_since)
            else:
                text = "the journals in %s on %s (%d) have been read by nobody since %s"
                log.error(text, row.path, row.host, row.files, row.read_at)
        if forgotten := journal_folders.purge(now=now):
            log.warning("%d folders of journals are forgotten: each of their calls has been decided", forgotten)


def _uuid(text: bytes) -> UUID | None:
    """Read an id. One that was written only in part, when a machine crashed, is none."""
    try:
        return UUID(text.decode().strip())
    except ValueError:
        return None
