"""Django's PostgreSQL backend, with a pool that recovers at once when the database is available again.

psycopg's pool hands out connections that the server has closed, and doubles its delay after each failure to connect, up to
minutes, even if the database is back. This backend tests a connection before using it, discards all idle connections when one
is broken, and gives up reconnecting so early that the next request triggers a new attempt.
"""

import time
from typing import Any

from django.db import DEFAULT_DB_ALIAS, connections
from psycopg import Error
from psycopg_pool import PoolTimeout

from gateway.core.database import sessions
from gateway.core.database.bounded import BoundedConnection, DatabaseHangs, connection_options, statement_timeout
from gateway.core.database.connection import TRANSACTIONS
from gateway.core.database.history import histories
from gateway.core.database.outage import Outage
from gateway.core.database.replication import FRESH_SECONDS
from gateway.core.django_internals import PostgresWrapper

CHECK_SECONDS = 2.0
"""Timeout of the check, which a working database answers in a fraction of a millisecond."""

IS_READ_ONLY = "SHOW transaction_read_only"

POOL_OPTIONS = {
    "connection_class": BoundedConnection,
    "timeout": 3.0,  # a request without a connection by then is answered with 503
    "reconnect_timeout": 2.0,
}

outage = Outage()


class DatabaseWrapper(PostgresWrapper):
    """A connection of one thread, with a limit on every wait."""

    def __init__(self, settings_dict: dict[str, Any], alias: str = DEFAULT_DB_ALIAS) -> None:
        options = settings_dict["OPTIONS"]
        if pool := options.get("pool"):
            options["pool"] = {**POOL_OPTIONS, **pool}
        super().__init__(settings_dict, alias)

    def get_connection_params(self) -> dict[str, Any]:
        """Return libpq's parameters. Those of the database's URL take precedence."""
        params = {**connection_options(), **super().get_connection_params()}
        params["options"] = f"{TRANSACTIONS} {statement_timeout()} {params.get('options', '')}".strip()
        return params

    def get_new_connection(self, conn_params: dict[str, Any]) -> Any:
        """Return a connection that responds, to the newest copy of the database that this machine knows.

        Raises OperationalError within seconds if there is none.
        """
        if not self.pool:
            return super().get_new_connection(conn_params)
        with outage.attempt():
            connection = self._borrow(conn_params)
            if not _is_outdated(connection) and self._answers(connection):
                return connection
            self.pool.putconn(connection)
            self.pool.drain()  # the other idle connections are probably broken or outdated too
            return self._borrow(conn_params)

    def opened(self, connection: Any) -> None:
        """Check a new connection before Django configures it."""
        connection.history = sessions.check(connection, self.get_connection_params())

    def _borrow(self, conn_params: dict[str, Any]) -> BoundedConnection:
        failures = self._connection_failures()
        try:
            connection: BoundedConnection = super().get_new_connection(conn_params)
        except PoolTimeout:
            if self._connection_failures() > failures:  # else all connections are only in use
                _note_outage()
            raise
        return connection

    def _answers(self, connection: BoundedConnection) -> bool:
        """Return whether a connection is usable. Raises DatabaseHangs after returning it to the pool."""
        try:
            with connection.limited_to(CHECK_SECONDS):
                return self._takes_writes(connection)
        except DatabaseHangs:
            _note_outage()
            self.pool.putconn(connection)
            raise
        except Error:
            return False

    def _takes_writes(self, connection: BoundedConnection) -> bool:
        """Return whether the server takes writes, or was chosen a moment ago, so that there probably is no other that does."""
        if not connection.autocommit:
            connection.autocommit = True
        row = connection.execute(IS_READ_ONLY).fetchone()
        return row == ("off",) or time.monotonic() - connection.opened_at < FRESH_SECONDS

    def _connection_failures(self) -> int:
        return self.pool.get_stats().get("connections_errors", 0)


def _is_outdated(connection: BoundedConnection) -> bool:
    """Return whether any process of this machine has met a newer copy of the database since the connection was opened."""
    if connection.history is None:
        return False
    histories.refresh()
    return histories.is_outdated(connection.history)


def _note_outage() -> None:
    if BoundedConnection.serves_requests:  # a job waits instead of failing at once
        outage.note()


def waiting() -> int:
    """Return how many threads of this process wait for a connection of Django's pool."""
    pool = connections[DEFAULT_DB_ALIAS].pool  # type: ignore[attr-defined] # this backend's
    return int(pool.get_stats().get("requests_waiting", 0)) if pool else 0
