"""Checks each new connection to the database before it is used.

A check costs one round trip per connection, not per call.
"""

import asyncio
import logging
from typing import Any

from psycopg import AsyncConnection, Connection, Error, OperationalError
from psycopg.errors import UndefinedColumn, UndefinedFunction, UndefinedTable

from gateway.core.database.bounded import BoundedConnection
from gateway.core.database.history import History, histories
from gateway.core.database.pooler import refuse_shared_sessions
from gateway.core.database.refusals import DatabaseRefused, StandbyDatabase
from gateway.core.runtime.logs import RecurringLog

ENTER = "SELECT pg_backend_pid(), e.is_standby, e.origin, e.began_at FROM accounts_enter_database() e"
ENTER_EMPTY = "SELECT pg_backend_pid(), false, NULL, NULL"
"""For a database without the gateway's functions: one that is not prepared yet, or the server's own."""

_NOT_PREPARED = (UndefinedFunction, UndefinedColumn, UndefinedTable)
"""The last two: its tables were returned to the version before, and the function is still there."""

_refusals = RecurringLog("gateway.database", logging.CRITICAL)


def check(connection: Connection[Any], parameters: dict[str, Any]) -> History | None:
    """Check a connection that was opened with these parameters. Raises DatabaseRefused, and logs why.

    Servers and workers use only the newest copy of the database; for them, return its history. A command may use any copy.
    """
    try:
        try:
            row = connection.execute(ENTER).fetchone()
        except _NOT_PREPARED:
            row = connection.execute(ENTER_EMPTY).fetchone()
        assert row is not None
        if row[0] != connection.info.backend_pid:
            refuse_shared_sessions(parameters)
        return _enter(row) if BoundedConnection.is_service else None
    except Error as error:
        _report(error)
        raise


async def check_async(connection: AsyncConnection[Any], parameters: dict[str, Any]) -> History | None:
    """Check a connection of an event loop, like `check` in a server. Return the history of its database, if it has one."""
    try:
        try:
            row = await (await connection.execute(ENTER)).fetchone()
        except _NOT_PREPARED:
            row = await (await connection.execute(ENTER_EMPTY)).fetchone()
        assert row is not None
        if row[0] != connection.info.backend_pid:
            await asyncio.to_thread(refuse_shared_sessions, parameters)
        return _enter(row)
    except Error as error:
        _report(error)
        raise


def _enter(row: tuple[Any, ...]) -> History | None:
    """Remember the database's history. Raises DatabaseRefused for a standby and for an older copy."""
    _, is_standby, origin, began_at = row
    if is_standby:  # it would be unchecked when it is promoted, or accepts writes, under this connection
        raise StandbyDatabase("it is a standby, or was one and refuses writes")
    if began_at is None:
        return None
    history = History(origin, began_at)
    histories.enter(history)
    return history


def _report(error: Error) -> None:
    """Log why the database is not used. That it is unavailable is reported elsewhere.

    Raises DatabaseRefused if the check itself failed.
    """
    if isinstance(error, DatabaseRefused):
        _refusals.write(str(error), f"The database is not used: {error}")
    elif not isinstance(error, OperationalError):
        refusal = DatabaseRefused(f"the connection cannot be checked: {error}")
        _report(refusal)
        raise refusal from error
