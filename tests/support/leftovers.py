"""Takes away what a test file committed, so that no file sees another's rows in whatever order they run.

Most tests roll back by themselves. Those whose servers and processes really commit cannot.
"""

from collections.abc import Iterator
from typing import Any

import pytest
from django.db import connection
from psycopg import sql

from accounts.operations import replays

TABLES = "SELECT relname FROM pg_class WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace ORDER BY relname"
_filled_by_migrations: set[str] = set()


@pytest.fixture(scope="session")
def django_db_setup(django_db_setup: None, django_db_blocker: Any) -> None:
    """Note which tables the migrations themselves fill."""
    with django_db_blocker.unblock():
        _filled_by_migrations.update(filled_tables())


@pytest.fixture(scope="module", autouse=True)
def nothing_left_behind(django_db_blocker: Any) -> Iterator[None]:
    """Empty the tables that a file left rows in, once the file is done."""
    yield
    if _filled_by_migrations:
        with django_db_blocker.unblock():
            empty(filled_tables() - _filled_by_migrations)


def filled_tables() -> set[str]:
    """Return the tables that hold rows."""
    with connection.cursor() as cursor:
        cursor.execute(TABLES)
        names = [name for (name,) in cursor.fetchall()]
        look = sql.SQL("SELECT {} WHERE EXISTS (SELECT FROM {})")
        looks = [look.format(sql.Literal(name), sql.Identifier(name)) for name in names]
        cursor.execute(sql.SQL(" UNION ALL ").join(looks))
        return {name for (name,) in cursor.fetchall()}


def empty(tables: set[str]) -> None:
    """Remove all rows of these tables and of those that refer to them.

    The replay store takes that for a loss of proofs and refuses all that are as old. With no account left it may
    begin anew.
    """
    if not tables:
        return
    names = sql.SQL(", ").join(map(sql.Identifier, sorted({*tables, "accounts_account", "accounts_replay_epoch"})))
    with connection.cursor() as cursor:
        cursor.execute(sql.SQL("TRUNCATE {} CASCADE").format(names))
    replays.begin_epoch()
