"""A Django connection that never waits without a limit.

libpq has no timeout for an answer, and TCP does not detect a server that hangs, because its kernel still acknowledges every
byte.
"""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, ClassVar, Self

from django.conf import settings
from psycopg import OperationalError

from gateway.core.database.history import History
from gateway.core.database.psycopg_internals import LimitedConnection
from gateway.core.database.replication import Unreplicated, note_unreplicated

STATEMENT_MARGIN_SECONDS = 1.0
"""The server cancels a statement this much earlier than the client gives up, so that only a hung server costs the connection."""


class DatabaseHangs(OperationalError):
    """The database accepted a statement and did not answer in time."""


class BoundedConnection(LimitedConnection):
    """Closes itself and raises DatabaseHangs when an answer does not come within the process's limit.

    Raises Unreplicated for a commit that a synchronous standby may lack. `opened_at` is in seconds of the monotonic clock.
    """

    serves_requests: ClassVar[bool] = False
    is_service: ClassVar[bool] = False  # whether this process is a server or a worker
    history: History | None = None  # of its database, in a server or a worker
    _own_limit_seconds: float | None = None
    is_unreplicated: bool = False

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.opened_at = time.monotonic()
        note_unreplicated(self)

    def wait(self, gen: Any, *args: Any, **options: Any) -> Any:
        """Wait for the answer to a statement, and refuse one that is committed here alone."""
        answer = super().wait(gen, *args, **options)
        if self.is_unreplicated:
            self.is_unreplicated = False
            raise Unreplicated
        return answer

    def wait_limit_seconds(self) -> float | None:
        """Return the limit of the context, or else the process's."""
        return self._own_limit_seconds or limit_seconds()

    def overdue(self, seconds: float) -> DatabaseHangs:
        """Close the connection."""
        self.close()
        return DatabaseHangs(f"the database did not answer within {seconds:g} s")

    @contextmanager
    def limited_to(self, seconds: float) -> Iterator[Self]:
        """Apply a different limit within the context."""
        self._own_limit_seconds = seconds
        try:
            yield self
        finally:
            self._own_limit_seconds = None


def serve_requests() -> None:
    """Apply the limit of requests to this process, instead of that of jobs and commands."""
    BoundedConnection.serves_requests = BoundedConnection.is_service = True


def serve_jobs() -> None:
    """Mark this process as a worker, which uses only the newest copy of the database."""
    BoundedConnection.is_service = True


def limit_seconds() -> float | None:
    """Return how long this process waits for an answer, or None without a limit."""
    is_server = BoundedConnection.serves_requests
    return (settings.DATABASE_WAIT_SECONDS if is_server else settings.DATABASE_JOB_WAIT_SECONDS) or None


def connection_options() -> dict[str, Any]:
    """Return libpq's parameters that limit what the connection does not: connecting, and waiting for a vanished peer."""
    return {
        "connect_timeout": 2,  # to each host: of two, one may be gone, and the pool waits for three seconds
        "keepalives_idle": 10,
        "keepalives_interval": 3,
        "keepalives_count": 3,
        "tcp_user_timeout": 10_000,
    }


def statement_timeout() -> str:
    """Return the server's own statement timeout as a command-line option, or nothing without a limit."""
    limit = limit_seconds()
    if limit is None:
        return ""
    return f"-c statement_timeout={max(limit - STATEMENT_MARGIN_SECONDS, limit / 2) * 1000:.0f}"
