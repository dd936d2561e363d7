"""Reads this machine's journals, for as long as its process lives, and closes the calls of processes that have died.

Every server process and every worker has a reader of its own, so that a machine needs no message, and neither its worker
nor its server: whichever of them lives, or is started again, reads what the others left.
"""

import logging
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from django.conf import settings
from django.db import connections
from django.utils import timezone

from gateway.core.runtime.logs import RecurringLog
from inference.metering import recovery
from inference.metering.journal_folder import FolderReports

READ_SECONDS = 5.0
"""The time between two looks at the folder. A call is closed at most two of these and the grace after its process died."""

STOP_SECONDS = 1.0

_failed = RecurringLog("inference.recovery", logging.ERROR)


class JournalReader:
    """A thread that reads one folder, and reports that it does. It may be killed at any point, as recovery may.

    `serves`: its process serves calls, and therefore keeps a journal there.
    """

    def __init__(self, folder: Path | None = None, *, serves: bool = False) -> None:
        self._folder = folder or settings.CALL_JOURNAL_DIR
        self._reports = FolderReports(self._folder, serves=serves)
        self._is_over = threading.Event()
        self._thread = threading.Thread(target=self._run, name="journals", daemon=True)

    def start(self) -> None:
        """Read now, and every few seconds from now on."""
        self._thread.start()

    def stop(self) -> None:
        """Read no more, and report what is left. Returns within a second, even if the database does not answer."""
        self._is_over.set()
        with suppress(RuntimeError):  # it was not started
            self._thread.join(STOP_SECONDS)

    def _run(self) -> None:
        while not self._is_over.is_set():
            self._read()
            self._is_over.wait(READ_SECONDS)
        with suppress(Exception), _own_connections():  # the folder then needs a person, if nobody reads it
            self._reports.leave()

    def _read(self) -> None:
        try:
            with _own_connections():
                recovery.recover(now=timezone.now(), folder=self._folder)
                self._reports.report()
        except Exception as error:  # noqa: BLE001 - a database that is away, a full disk: the next look tries again
            self._reports.miss()
            _failed.write(type(error).__name__, f"the calls of dead processes wait: {type(error).__name__}: {error}")


@contextmanager
def _own_connections() -> Iterator[None]:
    """Close the connections of this thread at the end."""
    try:
        yield
    finally:
        connections.close_all()
