"""Reads this machine's journals, for as long as its process lives, and closes the calls of processes that have died.

Every server process and every worker has a reader of its own, so that a machine needs no message, and neither its worker
nor its server: whichever of them lives, or is started again, reads what the others left.
"""

import logging
import threading
from contextlib import suppress
from pathlib import Path

from django.conf import settings
from django.db import connections
from django.utils import timezone

from gateway.core.runtime.logs import RecurringLog
from inference.metering import recovery

READ_SECONDS = 5.0
"""The time between two looks at the folder. A call is closed at most two of these and the grace after its process died."""

STOP_SECONDS = 1.0

_failed = RecurringLog("inference.recovery", logging.ERROR)


class JournalReader:
    """A thread that reads one folder. It may be killed at any point, as recovery may."""

    def __init__(self, folder: Path | None = None) -> None:
        self._folder = folder or settings.CALL_JOURNAL_DIR
        self._is_over = threading.Event()
        self._thread = threading.Thread(target=self._run, name="journals", daemon=True)

    def start(self) -> None:
        """Read now, and every few seconds from now on."""
        self._thread.start()

    def stop(self) -> None:
        """Read no more. Returns within a second, even if the database does not answer."""
        self._is_over.set()
        with suppress(RuntimeError):  # it was not started
            self._thread.join(STOP_SECONDS)

    def _run(self) -> None:
        while not self._is_over.is_set():
            self._read()
            self._is_over.wait(READ_SECONDS)

    def _read(self) -> None:
        try:
            try:
                recovery.recover(now=timezone.now(), folder=self._folder)
            finally:
                connections.close_all()  # this thread's own
        except Exception as error:  # noqa: BLE001 - a database that is away, a full disk: the next look tries again
            _failed.write(type(error).__name__, f"the calls of dead processes wait: {type(error).__name__}: {error}")
