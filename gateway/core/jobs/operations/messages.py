"""Tells workers about work that the schedule would find by itself, a little later.

The message broker may be away or hang. One thread at a time sends, its sockets have timeouts, and after a failure nothing
is sent for a moment: a request waits for the broker once, for less than a second, and the others go on.
"""

import logging
import threading
import time
from importlib import import_module
from typing import TYPE_CHECKING, Any

from django.conf import settings
from django.db import transaction

if TYPE_CHECKING:
    from celery import Task

AWAY_SECONDS = 5.0
"""How long nothing is sent after a failure."""

log = logging.getLogger("gateway.messages")


class Sender:
    """Sends this process's messages."""

    def __init__(self) -> None:
        self._turn = threading.Lock()
        self._away_until = 0.0

    def send(self, task: "Task", about: str, **options: Any) -> None:
        """Send a task about a row, or leave it to the schedule."""
        with self._turn:
            if time.monotonic() < self._away_until:
                log.warning("%s is left to the scheduled job", about)
                return
            try:
                import_module(settings.CELERY_APPLICATION)  # makes it the one that tasks are handed to
                task.apply_async(retry=False, **options)
            except Exception:
                self._away_until = time.monotonic() + AWAY_SECONDS
                log.exception("%s is left to the scheduled job", about)

    def forget(self) -> None:
        """Forget a failure."""
        self._away_until = 0.0


sender = Sender()


def notify(task: "Task", argument: Any, about: str, **options: Any) -> None:
    """Send a task to a worker once the transaction is committed. `about` names the row in the log."""
    transaction.on_commit(lambda: sender.send(task, about, args=(argument,), **options))
