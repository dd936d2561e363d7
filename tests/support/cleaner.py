"""A connection for deleting what tests committed, past the ledger's guards.

Disabling the guards lets a connection forget every plan, also those of the ledger's functions: tests and gateways keep theirs,
on connections of their own.
"""

from collections.abc import Callable
from typing import Any

import psycopg

from tests.support.database import database_url

_connections: dict[str, psycopg.Connection[Any]] = {}
"""The connection by its URL. It lasts: the server takes 50 ms to start one that knows all tables."""


def clean(work: Callable[[psycopg.Connection[Any]], object]) -> None:
    """Run in one transaction, without the database's triggers."""
    connection = _connection()
    try:
        _run(work, connection)
    except psycopg.OperationalError:
        if not connection.closed:
            raise
        _run(work, _connection())  # a test had ended every connection


def hang_up() -> None:
    """Close the connection; the next one that cleans opens another."""
    while _connections:
        _connections.popitem()[1].close()


def _run(work: Callable[[psycopg.Connection[Any]], object], connection: psycopg.Connection[Any]) -> None:
    with connection.transaction():
        work(connection)


def _connection() -> psycopg.Connection[Any]:
    """Return the lasting connection to this test's database, or make it again."""
    url = database_url()
    if url not in _connections or _connections[url].closed:
        hang_up()
        _connections[url] = psycopg.connect(url, options="-c session_replication_role=replica")
    return _connections[url]
