"""Cleans up after tests: process state, and the rows of test files whose servers really committed them."""

from collections.abc import Iterator
from typing import Any

import psycopg
import pytest
from django.db import connection
from django.test import TransactionTestCase
from psycopg import sql

from accounts.operations.keyring import keyring
from accounts.operations.receipt_keyring import receipt_keyring
from gateway.core.runtime import logs
from gateway.core.telemetry.operations import recorder
from tests.support import session_keys
from tests.support.cleaner import clean, hang_up
from tests.support.database import connect, ends_with_the_session
from tests.support.migrated import template
from tests.support.serving import wait_for_abandoned_calls

TABLES = "SELECT relname FROM pg_class WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace ORDER BY relname"
DISCONNECT = "SELECT pg_terminate_backend(pid, 60000) FROM pg_stat_activity WHERE datname = %s"
# The replay store may start empty without these rows. It treats only their loss as a loss of proofs, and then refuses
# older ones. A test may change the epoch and leave no other row, so these are always emptied.
ALWAYS_EMPTIED = {"accounts_account", "accounts_replay_epoch"}
# The groups of operators' roles are there before any test, and stay.
OTHER_GROUPS = """
WITH other AS (DELETE FROM auth_group WHERE id NOT IN (SELECT group_id FROM accounts_operator_role) RETURNING id)
DELETE FROM auth_group_permissions WHERE group_id IN (SELECT id FROM other)
"""
_filled_before_tests: set[str] = set()


@pytest.fixture(autouse=True)
def fresh_process() -> Iterator[None]:
    """Reset the log limits of earlier tests, their message broker, and their keys, which may have been rolled back."""
    from gateway.core.jobs.operations.messages import sender

    logs.forget()
    session_keys.remember()
    receipt_keyring.forget()
    sender.forget()
    yield
    keyring.forget()


@pytest.fixture(scope="session")
def django_db_modify_db_settings(django_db_modify_db_settings: None) -> None:
    """Close the pool that a thread of an earlier test may have made: it would be one of a database with another name.

    The test's database is a copy, which takes a tenth of the time of the migrations.
    """
    wrapper: Any = connection
    wrapper.close_pool()
    connection.settings_dict["TEST"]["TEMPLATE"] = template()


@pytest.fixture(scope="session")
def django_db_keepdb(request: pytest.FixtureRequest) -> bool:
    """Leave the database behind if its server ends with the tests."""
    return ends_with_the_session(request.config) or bool(request.config.getvalue("reuse_db"))


@pytest.fixture(scope="session")
def django_db_setup(django_db_setup: None, django_db_blocker: Any) -> Iterator[None]:
    """Make signing keys, and record which tables are filled before any test. At the end, disconnect processes that a test
    killed or abandoned: the database cannot be dropped while they use it."""
    with django_db_blocker.unblock(), connect() as database:
        session_keys.make(database)
        connection.close()
        name = database.info.dbname
        _filled_before_tests.update(filled_tables(database))
    yield
    hang_up()
    with connect(dbname="postgres", autocommit=True) as server:
        server.execute(sql.SQL("ALTER DATABASE {} WITH ALLOW_CONNECTIONS false").format(sql.Identifier(name)))
        server.execute(DISCONNECT, [name])


@pytest.fixture(scope="module", autouse=True)
def nothing_left_behind() -> Iterator[None]:
    """Empty the tables in which a test file left rows, once the file and the calls that it abandoned are done."""
    yield
    wait_for_abandoned_calls()
    if _filled_before_tests:
        empty_filled_tables()


@pytest.fixture(scope="session", autouse=True)
def flush_of_filled_tables() -> Iterator[None]:
    """Let tests that commit truncate what they filled. Django would truncate every table, past no guard of the ledger, and
    then make all permissions and content types again."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(TransactionTestCase, "_fixture_teardown", lambda case: _flush())
        yield


def _flush() -> None:
    connection.close()  # a test may have left a transaction that failed
    empty_filled_tables()


def empty_filled_tables() -> None:
    """Empty the tables that were empty before any test."""
    _forget_observations()
    clean(lambda database: empty(database, filled_tables(database) - _filled_before_tests))


def _forget_observations() -> None:
    """Drop what was observed and is not written yet, which would be written into the tables of a later test."""
    own = recorder.recorder
    with own._writing, own._taking:
        own._batch = recorder._empty()


def filled_tables(database: psycopg.Connection[Any]) -> set[str]:
    """Return the tables that are not empty."""
    names = [name for (name,) in database.execute(TABLES)]
    look = sql.SQL("SELECT {} WHERE EXISTS (SELECT FROM {})")
    looks = [look.format(sql.Literal(name), sql.Identifier(name)) for name in names]
    return {name for (name,) in database.execute(sql.SQL(" UNION ALL ").join(looks))}


def empty(database: psycopg.Connection[Any], tables: set[str]) -> None:
    """Delete all rows of these tables and of those that are always emptied, whatever refers to them, and the groups that tests made;
    restore the signing keys. The connection must not run triggers: the guards would refuse it."""
    for table in sorted(tables | ALWAYS_EMPTIED):  # truncating takes ten times as long: each index gets a new file
        database.execute(sql.SQL("DELETE FROM {}").format(sql.Identifier(table)))
    database.execute(OTHER_GROUPS)
    session_keys.restore(database)
    database.execute("SELECT accounts_begin_epoch()")
