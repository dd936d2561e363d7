"""Simulates a slow disk for a gateway's PostgreSQL, with PostgreSQL's own settings."""

from collections.abc import Iterator
from contextlib import contextmanager

import psycopg
from psycopg import sql

MILLISECONDS_MAX = 100
"""The maximum of `commit_delay`."""


@contextmanager
def slow_disk(database_url: str, delay_milliseconds: int) -> Iterator[None]:
    """Delay every flush of the write-ahead log on commit until the context ends.

    `commit_delay` sleeps before the flush while it holds the log's lock; with `commit_siblings` of 0 it also does so
    for a single commit. Commits that arrive during the sleep share the flush, as on a real disk.
    """
    with psycopg.connect(database_url, autocommit=True) as connection:
        _change(connection, {"commit_delay": str(delay_milliseconds * 1000), "commit_siblings": "0"})
        try:
            yield
        finally:
            _change(connection, {"commit_delay": None, "commit_siblings": None})


def _change(connection: psycopg.Connection, settings: dict[str, str | None]) -> None:
    """Change the server's settings, None for the default; they apply to the next statement of every session."""
    for name, value in settings.items():
        target = sql.SQL("RESET {}" if value is None else "SET {} = {}")
        change = target.format(sql.Identifier(name), sql.Literal(value))
        connection.execute(sql.SQL("ALTER SYSTEM {}").format(change))
    connection.execute("SELECT pg_reload_conf()")
    # The signal reaches sessions in no order; it is far faster than a lane's start.
    connection.execute("SELECT pg_sleep(0.2)")
