"""Takes away what tests left: what a process remembers, and the rows of a file whose servers really committed them."""

from collections.abc import Iterator
from typing import Any

import psycopg
import pytest
from django.test import TransactionTestCase
from psycopg import sql

from gateway.core.api import logs
from tests.support.database import connect
from tests.support.unguarded import unguarded

TABLES = "SELECT relname FROM pg_class WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace ORDER BY relname"
# Without them the replay store may begin anew; it takes their loss alone for a loss of proofs and refuses what is as old.
ALWAYS_EMPTIED = {"accounts_account", "accounts_replay_epoch"}
_filled_by_migrations: set[str] = set()


@pytest.fixture(autouse=True)
def fresh_process() -> Iterator[None]:
    """Forget what earlier tests logged, which is logged once a minute, and their signing keys, which may be rolled back."""
    from accounts.operations.keyring import keyring

    logs.forget()
    keyring.forget()
    yield
    keyring.forget()


@pytest.fixture(scope="session")
def django_db_setup(django_db_setup: None, django_db_blocker: Any) -> None:
    """Note which tables the migrations themselves fill."""
    with connect() as database:
        _filled_by_migrations.update(filled_tables(database))


@pytest.fixture(scope="module", autouse=True)
def nothing_left_behind() -> Iterator[None]:
    """Empty the tables that a file left rows in, once the file is done."""
    yield
    if _filled_by_migrations:
        with connect() as database:
            empty(database, filled_tables(database) - _filled_by_migrations)


@pytest.fixture(scope="session", autouse=True)
def flush_passes_guards() -> Iterator[None]:
    """Turn the ledger's guards off for Django's own clean-up after tests that commit."""
    tear_down = TransactionTestCase._fixture_teardown  # type: ignore[attr-defined]

    def unguarded_tear_down(case: TransactionTestCase) -> None:
        with unguarded():
            tear_down(case)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(TransactionTestCase, "_fixture_teardown", unguarded_tear_down)
        yield


def filled_tables(database: psycopg.Connection[Any]) -> set[str]:
    """Return the tables that hold rows."""
    names = [name for (name,) in database.execute(TABLES)]
    look = sql.SQL("SELECT {} WHERE EXISTS (SELECT FROM {})")
    looks = [look.format(sql.Literal(name), sql.Identifier(name)) for name in names]
    return {name for (name,) in database.execute(sql.SQL(" UNION ALL ").join(looks))}


def empty(database: psycopg.Connection[Any], tables: set[str]) -> None:
    """Remove all rows of these tables and of those that refer to them."""
    if not tables:
        return
    database.execute("SET session_replication_role = replica")  # past the guards, which refuse it to everybody else
    names = sql.SQL(", ").join(map(sql.Identifier, sorted(tables | ALWAYS_EMPTIED)))
    database.execute(sql.SQL("TRUNCATE {} CASCADE").format(names))
    database.execute("SET session_replication_role = DEFAULT")
    database.execute("SELECT accounts_begin_epoch()")
