"""Recognizes a connection pooler that does not give each connection its own session.

PgBouncer does so with `pool_mode = session` only. In its transaction and statement modes, each statement may run in another
session, which lacks what the gateway relies on: prepared statements, the parameters of the session's start, and the lock under
which `prepare` runs.
"""

import time
from threading import Lock
from typing import Any

import psycopg

from gateway.core.database.bounded import BoundedConnection
from gateway.core.database.refusals import SharedSessions

ANSWER_SECONDS = 2.0
ROUNDS = 20
"""A pooler that shares sessions looks for once as if it did not, if another client has a session in between."""

_turn = Lock()
"""For one check at a time: several that each have one of the pooler's last sessions would wait for each other's."""

_refused_at: float | None = None


def refuse_shared_sessions(parameters: dict[str, Any]) -> None:
    """Raise SharedSessions if connections with these parameters share sessions.

    Call it if the server's process is not the one that the connection's start named: then there is a pooler.
    """
    global _refused_at  # noqa: PLW0603 - one pooler for the whole process
    with _turn:
        are_shared = _are_shared(parameters)
    if are_shared:
        _refused_at = time.monotonic()
        raise SharedSessions("the connection pooler is not in session mode; set pool_mode = session (PgBouncer)")


def is_refused_since(moment: float) -> bool:
    """Return whether any connection of this process was refused after a moment of the monotonic clock.

    A pooler that changes its mode while it runs keeps its connections: one from before may work by chance, and is not checked
    again.
    """
    return _refused_at is not None and _refused_at > moment


def _are_shared(parameters: dict[str, Any]) -> bool:
    """Compare the sessions of two connections, several times: other clients' statements may come between."""
    parameters = {**parameters, "autocommit": True}
    with BoundedConnection.connect(**parameters) as one, BoundedConnection.connect(**parameters) as other:
        return any(_have_shared(one, other) for _ in range(ROUNDS))


def _have_shared(one: psycopg.Connection[Any], other: psycopg.Connection[Any]) -> bool:
    """Compare the sessions of two statements of one connection, and of one statement of a second connection.

    A pooler that shares sessions gives the most recently used one to whoever comes next, or each in turn.
    """
    first, again, beside = (_backend(connection) for connection in (one, one, other))
    return first != again or again == beside


def _backend(connection: psycopg.Connection[Any]) -> int:
    assert isinstance(connection, BoundedConnection)
    with connection.limited_to(ANSWER_SECONDS):
        row = connection.execute("SELECT pg_backend_pid()", prepare=False).fetchone()
    assert row is not None
    return int(row[0])
