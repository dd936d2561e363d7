"""A move of old calls that dies between any two statements leaves each row in one place, and the next move completes it."""

import os
import signal
import sys
import threading
from collections.abc import Iterator
from typing import Any

import psycopg
import pytest

from billing.operations import ledger_months
from tests.billing.months.conftest import Old, drop_months, furnish, readings, rows_of, run, unsound
from tests.factories import months
from tests.factories.billing import settle
from tests.factories.months import MONTH, TABLES, name_of
from tests.support import forked
from tests.support.concurrency import at_once, eventually
from tests.support.database import connect, database_url

pytestmark = pytest.mark.django_db(transaction=True)

MOVE = "SELECT * FROM billing_move_calls('2025-10-01', now(), '', 100, false)"
ADD = "SELECT billing_add_month('2025-10-01')"
DEATH = """
CREATE FUNCTION die() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM pg_terminate_backend(pg_backend_pid());
  PERFORM pg_sleep(60);
END $$;
CREATE FUNCTION die_at_command() RETURNS event_trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM set_config('test.steps', (current_setting('test.steps')::integer - 1)::text, false);
  IF current_setting('test.steps') = '0' THEN
    PERFORM pg_terminate_backend(pg_backend_pid());
    PERFORM pg_sleep(60);
  END IF;
END $$;
"""
LOOK = (
    "SELECT count(*), count(DISTINCT id), sum(charge_microusd) FROM billing_reservation WHERE created_at < '2025-11-01'"
)
STEPS = [
    (when, what, table)
    for hot in TABLES
    for when, what, table in (
        ("BEFORE", "INSERT", name_of(hot)),
        ("AFTER", "INSERT", name_of(hot)),
        ("BEFORE", "DELETE", hot),
        ("AFTER", "DELETE", hot),
    )
]
# A process that moves two calls at a time and kills itself after the n-th batch, or while the next one is in transit.
MOVER = """
import os, signal, sys
import django
django.setup()
from django.db import connection
from django.utils import timezone
from billing.operations import ledger_months
from tests.factories.months import MONTH
ledger_months.BATCH_MAX = ledger_months.BATCH_MIN = 2
batches, is_within = int(sys.argv[1]), sys.argv[2] == "within"
ledger_months.add_tables(MONTH)
moved = ledger_months.move(MONTH, before=timezone.now())
for _ in range(batches):
    next(moved)
if is_within:
    connection.ensure_connection()
    connection.connection.pgconn.send_query(b"SELECT * FROM billing_move_calls('2025-10-01', now(), '', 2, false)")
    connection.connection.pgconn.flush()
os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.fixture
def old(dropped_months: None) -> Old:
    """Commit the ledger, so that other sessions see it."""
    return furnish()


@pytest.fixture
def dropped_months() -> Iterator[None]:
    """Remove the months' tables and the crash triggers."""
    yield
    with connect(autocommit=True) as database:
        database.execute("DROP EVENT TRIGGER IF EXISTS die_at_command")
        drop_months(database)
        database.execute("DROP FUNCTION IF EXISTS die CASCADE")
        database.execute("DROP FUNCTION IF EXISTS die_at_command")


def dies(statement: str, *before: str) -> bool:
    """Run a statement in a session of its own; return whether the server ended that session."""
    with psycopg.connect(database_url(), autocommit=True) as session:
        for each in before:
            session.execute(each.encode())
        try:
            session.execute(statement.encode())
        except psycopg.errors.AdminShutdown:
            return True
    return False


def readings_now() -> dict[str, list[Any]]:
    return {hot: rows_of(hot) for hot in TABLES}


def without_keys(rows: list[Any]) -> set[str]:
    """Return the calls without the flag that their key is taken, which may change."""
    return {row.replace(",t,settled,", ",f,settled,") for (row,) in rows}


def in_hot() -> dict[str, list[Any]]:
    return {hot: rows_of(hot, only=True) for hot in TABLES}


def finish_and_compare(before: dict[str, Any]) -> None:
    """Check that nothing changed, move the rest, and check again."""
    assert readings_now() == before
    months.move()
    assert readings_now() == before
    assert unsound() == []


def test_a_backend_that_dies_between_two_statements_moves_nothing(old: Old) -> None:
    ledger_months.add_tables(MONTH)
    before, hot = readings(old), in_hot()
    run(DEATH)
    for when, what, table in STEPS:
        run(f"CREATE TRIGGER zz_die {when} {what} ON {table} FOR EACH STATEMENT EXECUTE FUNCTION die()")
        assert dies(MOVE), (when, what, table)
        assert in_hot() == hot
        run(f"DROP TRIGGER zz_die ON {table}")
    assert readings(old) == before
    finish_and_compare(readings_now())
    assert run(f"SELECT count(*) FROM ONLY {name_of(TABLES[0])}") == [(len(old.movable),)]
    assert readings(old) == before


def test_a_backend_that_dies_while_it_makes_tables_makes_none(old: Old) -> None:
    before = readings(old)
    run(DEATH)
    run("CREATE EVENT TRIGGER die_at_command ON ddl_command_end EXECUTE FUNCTION die_at_command()")
    deaths = 0
    while dies(ADD, f"SET test.steps = '{deaths + 1}'"):
        deaths += 1
        assert run("SELECT count(*) FROM pg_class WHERE relname LIKE '%2025_10%'") == [(0,)]
        assert run("SELECT count(*) FROM billing_ledger_month") == [(0,)]
        assert unsound() == []
    assert deaths >= 3 * (1 + 1 + 3 + 1)  # each table: itself, an index at least, three triggers, its inheriting
    run("DROP EVENT TRIGGER die_at_command")
    assert readings(old) == before
    finish_and_compare(readings_now())


def test_a_process_that_is_killed_leaves_each_row_in_one_place(old: Old) -> None:
    before = readings(old)
    for batches, where in ((0, "after"), (1, "within"), (2, "after")):
        environment = {**os.environ, "DATABASE_URL": database_url()}
        done = forked.run([sys.executable, "-c", MOVER, str(batches), where], env=environment)
        assert done.returncode == -signal.SIGKILL, done.stderr
        assert readings(old) == before
        assert unsound() == []
    finish_and_compare(readings_now())
    assert readings(old) == before


def test_two_movers_and_callers_at_once(old: Old, monkeypatch: pytest.MonkeyPatch) -> None:
    """Callers reuse the keys of calls that are being moved, and a reader finds each row once at any time."""
    monkeypatch.setattr(ledger_months, "BATCH_MAX", 3)
    monkeypatch.setattr(ledger_months, "BATCH_MIN", 3)
    for number in range(60):
        months.called(old.purse, 10, f"many {number}", months.AT.replace(day=18, minute=number))
    run("SET session_replication_role = replica; DELETE FROM billing_seal; DELETE FROM billing_usage_day;"
        " DELETE FROM billing_usage_horizon; SET session_replication_role = DEFAULT")  # fmt: skip
    months.finish()
    ledger_months.add_tables(MONTH)
    before, is_over = readings_now(), threading.Event()
    [(calls,)] = run("SELECT count(*) FROM billing_reservation")

    def mover() -> int:
        return sum(batch.calls for batch in ledger_months.move(MONTH, before=months.END))

    def caller() -> int:
        for number in range(60):
            settle(old.purse.call(20, f"many {number}"), 10)
        return 60

    seen: set[Any] = set()

    def read() -> None:
        with connect(autocommit=True) as session:
            while not is_over.is_set():
                seen.add(session.execute(LOOK).fetchone())

    reading = threading.Thread(target=read)
    reading.start()
    try:
        eventually(lambda: seen)
        moved_here, moved_there, called = at_once(mover, mover, caller)
    finally:
        is_over.set()
        reading.join()
    assert len(seen) == 1
    assert moved_here + moved_there + sum(batch.calls for batch in months.move()) == len(old.movable) + 60
    assert (called, run("SELECT count(*) FROM billing_reservation")) == (60, [(calls + 60,)])
    assert without_keys(before[TABLES[0]]) <= without_keys(rows_of(TABLES[0]))
    assert [len(rows_of(hot)) - len(before[hot]) for hot in TABLES[1:]] == [60, 60]
    assert unsound() == []
