"""Sends mails for as long as its process lives.

Every Celery worker has one, with a thread of its own: a mail server that hangs delays no job, no event and no other mail server. Any
number of them share the work.
"""

import logging
import threading
from contextlib import suppress

from django.db import connections

from gateway.core.database.clock import database_now
from gateway.core.events.operations.mails import Postman
from gateway.core.runtime.logs import RecurringLog

POLL_SECONDS = 2.0
"""How often the database is asked for mails that are due."""

STOP_SECONDS = 1.0

_failed = RecurringLog("gateway.mails", logging.ERROR)


class MailWorker:
    """A thread that sends what is due. It may be killed at any point."""

    def __init__(self) -> None:
        self._postman = Postman()
        self._is_over = threading.Event()
        self._thread = threading.Thread(target=self._run, name="mails", daemon=True)

    def start(self) -> None:
        """Send until `stop`."""
        self._thread.start()

    def stop(self) -> None:
        """Begin no further mail. Returns within a second, even if the mail server does not answer."""
        self._is_over.set()
        self._postman.stop()
        with suppress(RuntimeError):  # it was not started
            self._thread.join(STOP_SECONDS)

    def _run(self) -> None:
        while not self._is_over.is_set():
            if not self._send():
                self._is_over.wait(POLL_SECONDS)

    def _send(self) -> bool:
        """Send what is due; return whether anything was."""
        try:
            try:
                return bool(self._postman.send_due(database_now))
            finally:
                connections.close_all()  # this thread's own
        except Exception as error:  # noqa: BLE001 - a database that is away: the next look tries again
            _failed.write(type(error).__name__, f"mails wait: {type(error).__name__}: {error}")
            return False
