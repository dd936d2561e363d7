"""Why a database that responds is not used."""

from typing import ClassVar

from psycopg import OperationalError


class DatabaseRefused(OperationalError):
    """The database responds, but must not be used. The text says why, in one line. Requests are answered with 503.

    `reason` says it in a word, for `/healthz`.
    """

    reason: ClassVar[str] = "refused"


class SharedSessions(DatabaseRefused):
    """A pooler does not give each connection its own session."""

    reason = "shared_sessions"


class StandbyDatabase(DatabaseRefused):
    """The server is a standby, or was promoted and still refuses writes."""

    reason = "standby"
