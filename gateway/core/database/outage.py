"""Tracks whether the database is unavailable to this process."""

from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock

from psycopg import OperationalError


class Outage:
    """Lets one caller at a time wait for an unavailable database, and refuses the others at once.

    Otherwise every request would wait for the full timeout, as many at a time as there are threads, and the last in the queue
    would get no answer for minutes.
    """

    def __init__(self) -> None:
        self._is_down = False
        self._probing = Lock()

    def note(self) -> None:
        """Record that the database is unavailable."""
        self._is_down = True

    @contextmanager
    def attempt(self) -> Iterator[None]:
        """Wrap an attempt to reach the database. A successful attempt ends the outage.

        Raises OperationalError at once if the database is unavailable and another attempt is in progress.
        """
        is_probe = self._is_down
        if is_probe and not self._probing.acquire(blocking=False):
            raise OperationalError("the database is unavailable")
        try:
            yield
            self._is_down = False
        finally:
            if is_probe:
                self._probing.release()
