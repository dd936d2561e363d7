"""`manage.py move_ledger_month` moves what may move, says what stays and why, and may be run again."""

from datetime import UTC, datetime, timedelta
from io import StringIO
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.db import connection, transaction
from django.utils import timezone

from billing.operations import ledger_months
from tests.billing.months.conftest import Old, furnish, readings, run, unsound
from tests.factories import months
from tests.factories.billing import settle
from tests.support.database import connect

pytestmark = pytest.mark.django_db


def printed(*arguments: str) -> list[str]:
    out = StringIO()
    call_command("move_ledger_month", *arguments, stdout=out)
    return out.getvalue().splitlines()


def test_moves_a_month_and_says_what_stays(old: Old) -> None:
    before = readings(old)
    stay = "3 stay: 1 booked as a loss, 1 in review, 1 open"
    assert printed("2025-10", "--dry-run") == [f"2025-10: would move 8 calls; {stay}"]
    assert run("SELECT to_regclass('billing_reservation_2025_10')") == [(None,)]
    assert printed("2025-10") == ["2025-10: created its tables", f"2025-10: moved 8 calls (23 rows); {stay}"]
    assert printed("2025-10") == [f"2025-10: nothing to move; {stay}"]
    assert readings(old) == before
    assert unsound() == []


def test_a_month_without_calls_gets_no_tables(old: Old) -> None:
    assert printed("2025-09", "2025-08") == [
        "2025-09: there are no calls of this month in the hot tables",
        "2025-08: there are no calls of this month in the hot tables",
    ]
    assert run("SELECT * FROM billing_ledger_month") == []


@pytest.mark.parametrize(
    "name",
    ["2025-13", "2025", "202510", "2025-1", "October", "", "2025-10; DROP TABLE x", "\u0662\u0660\u0662\u0665-10"],
)
def test_refuses_what_is_no_month(db: None, name: str) -> None:
    with pytest.raises(CommandError, match="a month is named by year and month"):
        printed(name)


def test_refuses_a_month_that_is_too_young(db: None, settings: Any) -> None:
    settings.LEDGER_HOT_DAYS = 35
    young = timezone.now().astimezone(UTC) - timedelta(days=34)
    for at in (timezone.now(), young, datetime(9999, 11, 1, tzinfo=UTC)):
        with pytest.raises(CommandError, match="a month can move 35 days after its end"):
            printed(f"{at:%Y-%m}")


def test_says_that_a_table_is_busy(old: Old, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ledger_months, "PAUSE_SECONDS", 0)
    ledger_months.add_tables(months.MONTH)

    def locked(statement: str) -> None:
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.execute("DO $$ BEGIN RAISE EXCEPTION 'locked' USING ERRCODE = 'lock_not_available'; END $$")

    monkeypatch.setattr(ledger_months, "_execute", locked)
    with pytest.raises(CommandError, match="a table is busy; run this again later"):
        printed("2025-10")


@pytest.mark.django_db(transaction=True)
@pytest.mark.usefixtures("dropped_tables")
def test_waits_for_nobody_who_has_locked_a_call() -> None:
    old = furnish()
    with connect() as beside:
        beside.execute("SELECT FROM billing_reservation WHERE id = %s FOR KEY SHARE", [old["paid 0"]])
        assert printed("2025-10")[-1].startswith("2025-10: moved 7 calls (20 rows); 4 stay:")
    assert printed("2025-10")[-1].startswith("2025-10: moved 1 call (3 rows); 3 stay:")
    assert unsound() == []


@pytest.mark.django_db(transaction=True)
@pytest.mark.usefixtures("dropped_tables")
def test_keeps_nobody_from_calling() -> None:
    """While a batch is not committed, other calls of the same wallet are held and settled, and read."""
    old = furnish()
    before = readings(old)
    ledger_months.add_tables(months.MONTH)
    with connect() as mover:
        mover.execute("SELECT * FROM billing_move_calls('2025-10-01', now(), '', 100, false)")
        run("SET lock_timeout = '5s'")
        assert readings(old) == before
        settle(old.purse.call(30, "beside"), 20)
        with connect() as other:
            locked = other.execute(
                "SELECT FROM ONLY billing_reservation WHERE id = %s FOR UPDATE SKIP LOCKED", [old["paid 0"]]
            )
            assert locked.rowcount == 0
        mover.commit()
    assert old["paid 0"] in {row[0] for row in run("SELECT id FROM ONLY billing_reservation_2025_10")}
    assert unsound() == []
