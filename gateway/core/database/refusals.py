"""Why a database that responds is not used."""

from psycopg import OperationalError


class DatabaseRefused(OperationalError):
    """The database responds, but must not be used. The text says why, in one line. Requests are answered with 503."""


class SharedSessions(DatabaseRefused):
    """A pooler does not give each connection its own session."""
