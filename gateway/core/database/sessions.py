"""Checks each new connection to the database before it is used.

A check costs one round trip per connection, not per call.
"""

import asyncio
import logging
from typing import Any

from psycopg import AsyncConnection, Connection, Error, OperationalError

from gateway.core.api.logs import RecurringLog
from gateway.core.database.pooler import refuse_shared_sessions
from gateway.core.database.refusals import DatabaseRefused

BACKEND = "SELECT pg_backend_pid()"

_refusals = RecurringLog("gateway.database", logging.CRITICAL)


def check(connection: Connection[Any], parameters: dict[str, Any]) -> None:
    """Check a connection that was opened with these parameters. Raises DatabaseRefused, and logs why."""
    try:
        row = connection.execute(BACKEND).fetchone()
        assert row is not None
        if row[0] != connection.info.backend_pid:
            refuse_shared_sessions(parameters)
    except Error as error:
        _report(error)
        raise


async def check_async(connection: AsyncConnection[Any], parameters: dict[str, Any]) -> None:
    """Check a connection of an event loop, like `check`."""
    try:
        row = await (await connection.execute(BACKEND)).fetchone()
        assert row is not None
        if row[0] != connection.info.backend_pid:
            await asyncio.to_thread(refuse_shared_sessions, parameters)
    except Error as error:
        _report(error)
        raise


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
