"""Django's PostgreSQL backend, with a pool that heals at once when the database comes back.

psycopg's pool leaves two things to its user. It lends connections that the server has ended, and after each failure to
connect it doubles a pause, up to minutes, in which nobody tries although the database is back. Here a connection is
tried before it is lent, one that is broken takes all idle ones with it, and the pool gives up reconnecting so soon that
the next request is what makes it try again.
"""

from typing import Any

from django.db import DEFAULT_DB_ALIAS
from django.db.backends.postgresql import base
from psycopg import Error
from psycopg_pool import ConnectionPool, PoolTimeout

from gateway.core.database.absence import Absence
from gateway.core.database.bounded import BoundedConnection, DatabaseHangs, connection_options, statement_timeout

CHECK_SECONDS = 2.0
"""An idle database answers an empty query in a fraction of a millisecond."""

POOL_OPTIONS = {
    "connection_class": BoundedConnection,
    "timeout": 3.0,  # a request that gets no connection for so long answers 503
    "reconnect_timeout": 2.0,
}

absence = Absence()


class DatabaseWrapper(base.DatabaseWrapper):
    """A connection of one thread, bounded in every wait."""

    def __init__(self, settings_dict: dict[str, Any], alias: str = DEFAULT_DB_ALIAS) -> None:
        options = settings_dict["OPTIONS"]
        if pool := options.get("pool"):
            options["pool"] = {**POOL_OPTIONS, **pool}
        super().__init__(settings_dict, alias)

    def get_connection_params(self) -> dict[str, Any]:
        """Return libpq's parameters; what the database's URL says goes first."""
        params = {**connection_options(), **super().get_connection_params()}
        params["options"] = f"-c synchronous_commit=on {statement_timeout()} {params.get('options', '')}".strip()
        return params

    def get_new_connection(self, conn_params: dict[str, Any]) -> Any:
        """Borrow a connection that answers. Raises OperationalError within seconds where there is none."""
        if not self.pool:
            return super().get_new_connection(conn_params)
        with absence.attempt():
            connection = self._borrow(conn_params)
            if self._answers(connection):
                return connection
            self.pool.putconn(connection)
            self.pool.drain()  # what ended one connection has ended the other idle ones
            return self._borrow(conn_params)

    def _borrow(self, conn_params: dict[str, Any]) -> BoundedConnection:
        failures = self._connection_failures()
        try:
            connection: BoundedConnection = super().get_new_connection(conn_params)
        except PoolTimeout:
            if self._connection_failures() > failures:  # else all connections are busy, and come back
                _note_absence()
            raise
        return connection

    def _answers(self, connection: BoundedConnection) -> bool:
        """Return whether a borrowed connection is usable. Raises DatabaseHangs after giving it back."""
        try:
            with connection.limited_to(CHECK_SECONDS):
                ConnectionPool.check_connection(connection)
        except DatabaseHangs:
            _note_absence()
            self.pool.putconn(connection)
            raise
        except Error:
            return False
        return True

    def _connection_failures(self) -> int:
        return self.pool.get_stats().get("connections_errors", 0)


def _note_absence() -> None:
    if BoundedConnection.serves_requests:  # a job would rather wait its turn
        absence.note()
