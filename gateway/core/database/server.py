"""Checks whether the database server responds, and describes failures for commands."""

import psycopg
from django.db import connection

from gateway.core.database import sessions
from gateway.core.database.refusals import DatabaseRefused


class ServerAway(Exception):
    """The server does not respond, or must not be used. The text states its address and the reason in one line, without the password."""


def server_version() -> int:
    """Return the server's version in libpq's format (15.4 is 150004), over a new connection. Raises ServerAway."""
    parameters = connection.get_connection_params()
    where = f"{parameters.get('host') or 'localhost'}:{parameters.get('port') or 5432}"
    try:
        with psycopg.connect(**{**parameters, "connect_timeout": 5, "autocommit": True}) as probe:
            sessions.check(probe, parameters)
            return probe.info.server_version
    except DatabaseRefused as refusal:
        raise ServerAway(f"The database at {where} is not used: {refusal}") from refusal
    except psycopg.Error as error:
        reason = str(error).strip().partition("\n")[0] or type(error).__name__
        raise ServerAway(f"The database at {where} does not answer: {reason}") from error


def failure_of(error: Exception) -> str:
    """Explain in one line why a statement failed: the server does not respond, or its error."""
    try:
        server_version()
    except ServerAway as away:
        return str(away)
    return f"The database failed: {type(error).__name__}: {str(error).strip().partition(chr(10))[0]}"
