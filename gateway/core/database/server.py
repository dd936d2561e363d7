"""Where the database server is, and whether it answers."""

import psycopg
from django.db import connection


class ServerAway(Exception):
    """The server does not respond; the text says in one line where it should be and why not, without the password."""


def server_version() -> int:
    """Return the server's version as libpq counts it (15.4 is 150004), over a new connection, or raise ServerAway."""
    parameters = connection.get_connection_params()
    where = f"{parameters.get('host') or 'localhost'}:{parameters.get('port') or 5432}"
    try:
        with psycopg.connect(**{**parameters, "connect_timeout": 5}) as probe:
            return probe.info.server_version
    except psycopg.Error as error:
        reason = str(error).strip().partition("\n")[0] or type(error).__name__
        raise ServerAway(f"The database at {where} does not answer: {reason}") from error


def failure_of(error: Exception) -> str:
    """Explain in one line why a statement failed: the server is away, or what it said."""
    try:
        server_version()
    except ServerAway as away:
        return str(away)
    return f"The database failed: {type(error).__name__}: {str(error).strip().partition(chr(10))[0]}"
