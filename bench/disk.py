"""Simulates a slow disk for a gateway's PostgreSQL, with PostgreSQL's own settings."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime

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
        _reload(connection, database_url)
        try:
            yield
        finally:
            _change(connection, {"commit_delay": None, "commit_siblings": None})
            _reload(connection, database_url)


def _change(connection: psycopg.Connection, settings: dict[str, str | None]) -> None:
    """Change the server's settings, None for the default; they apply to the next statement of every session."""
    for name, value in settings.items():
        target = sql.SQL("RESET {}" if value is None else "SET {} = {}")
        change = target.format(sql.Identifier(name), sql.Literal(value))
        connection.execute(sql.SQL("ALTER SYSTEM {}").format(change))


def _reload(connection: psycopg.Connection, database_url: str) -> None:
    """Reload the settings, and wait until the server has signalled every session: it does so before it starts another one."""
    [loaded_at] = connection.execute("SELECT pg_conf_load_time()").fetchone() or [None]
    connection.execute("SELECT pg_reload_conf()")
    while not _is_loaded_after(loaded_at, database_url):
        time.sleep(0.02)


def _is_loaded_after(loaded_at: datetime | None, database_url: str) -> bool:
    with psycopg.connect(database_url) as another:
        [is_later] = another.execute("SELECT pg_conf_load_time() > %s", [loaded_at]).fetchone() or [False]
    return bool(is_later)
