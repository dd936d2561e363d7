"""What this process knows of a database that is away."""

from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock

from psycopg import OperationalError


class Absence:
    """Lets one caller at a time wait for a database that is away, and refuses the others at once.

    Without it every request would wait its full time, one batch of threads after another, and the last of a queue would
    have no answer for minutes.
    """

    def __init__(self) -> None:
        self._is_noted = False
        self._scouting = Lock()

    def note(self) -> None:
        """Remember that the database was found away."""
        self._is_noted = True

    @contextmanager
    def attempt(self) -> Iterator[None]:
        """Surround an attempt to reach the database; a successful one ends the absence.

        Raises OperationalError at once if the database is away and another attempt is in progress.
        """
        is_scout = self._is_noted
        if is_scout and not self._scouting.acquire(blocking=False):
            raise OperationalError("the database is away")
        try:
            yield
            self._is_noted = False
        finally:
            if is_scout:
                self._scouting.release()
