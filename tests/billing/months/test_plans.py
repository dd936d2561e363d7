"""What a call costs does not grow with the number of months: its statements touch the hot tables alone."""

import re
from datetime import date
from pathlib import Path

import pytest
from django.db import connection

from billing.operations import ledger_months
from billing.queries import usage
from gateway.run.options import PROJECT_DIR
from tests.billing.months.conftest import Old, run
from tests.factories.billing import ANSWER, Purse, note_delivery, release, review, settle
from tests.factories.months import MONTH, move

pytestmark = pytest.mark.django_db

MONTHS = [date(2025, number, 1) for number in range(1, 13)]
# Functions that others than calls use; and where a call is looked for once it is not in the hot table.
READERS = {"active_days.sql", "months.sql", "seals.sql", "usage_days.sql"}
LOOKS_AT_CALLS = re.compile(r"\b(?:FROM|JOIN|UPDATE|INTO) +(?:ONLY +)?billing_(?:reservation|usage_record)\b.*")
LAST_LOOK = "FROM billing_reservation r WHERE r.id = p_usage_id;"
LOCKS = """
SELECT DISTINCT l.relation::regclass::text FROM pg_locks l JOIN pg_class c ON c.oid = l.relation
 WHERE l.pid = pg_backend_pid() AND c.relname ~ '_20[0-9]{2}_[0-9]{2}$'
"""


@pytest.fixture
def year(db: None) -> None:
    """Have tables for each month of a year."""
    for month in MONTHS:
        ledger_months.add_tables(month)


def functions() -> list[Path]:
    return [
        path
        for app in ("billing", "inference", "judgement")
        for path in sorted((PROJECT_DIR / app / "sql").glob("*.sql"))
    ]


def test_functions_of_a_call_name_only_the_hot_table() -> None:
    found = {
        f"{path.name}: {line}"
        for path in functions()
        if path.name not in READERS
        for line in LOOKS_AT_CALLS.findall(re.sub("--.*", "", path.read_text()))
        if " ONLY " not in line and not line.startswith("INTO") and line != LAST_LOOK
    }
    assert found == set()


@pytest.mark.django_db(transaction=True)
@pytest.mark.usefixtures("dropped_tables")
def test_a_call_touches_no_table_of_a_month() -> None:
    """Whatever a statement's plan names, it locks: so what is not locked is in no plan."""
    for month in MONTHS:
        ledger_months.add_tables(month)
    purse = Purse().pay(10_000)
    purse.grant(50)
    calls = [purse.call(100, f"key {number}") for number in range(3)]
    run("BEGIN")
    try:
        settle(purse.call(60, "new"), 50, replay=ANSWER)
        settle(calls[0], 50)
        release(calls[1])
        note_delivery(calls[2], {"input_tokens": 1})
        review(calls[2])
        purse.look_up("key 0")
        purse.reserve(10, "key 0")
        run(
            "SELECT * FROM billing_close_calls(%s, '{}', false)", f'[{{"action": "release", "usage_id": "{calls[2]}"}}]'
        )
        run("SELECT * FROM billing_reap()")
        assert run(LOCKS) == []
        usage.newest(purse.owner, 10).first()
        assert len(run(LOCKS)) > 12
    finally:
        run("ROLLBACK")


@pytest.mark.parametrize(
    "statement",
    [
        "SELECT FROM ONLY billing_reservation r WHERE r.wallet_id = 'w' AND r.route = 'x' AND r.idempotency_key = 'k'"
        " AND r.replayable",
        "UPDATE ONLY billing_reservation r SET state = 'settled' WHERE r.id = 'use_01k7rr2ce0ztp7eg7bk4h9x1kh'",
        "SELECT count(*) FROM billing_reservation WHERE closed_at IS NULL",
        "SELECT t.seq FROM billing_transfer t WHERE t.kind = 'payment' AND t.source = 'txn_1'",
    ],
)
@pytest.mark.usefixtures("year")
def test_plan_passes_the_months_by(statement: str) -> None:
    assert not re.search(r"_2025_\d\d", plan_of(statement))


@pytest.mark.usefixtures("year")
def test_a_call_is_looked_for_in_the_table_of_its_month() -> None:
    plan = plan_of("SELECT * FROM billing_reservation WHERE id = 'use_01k7rr2ce0ztp7eg7bk4h9x1kh'")
    assert set(re.findall(r"_2025_\d\d", plan)) == {"_2025_10"}


def test_rows_in_two_places_are_searched_only_in_their_month(old: Old) -> None:
    """The frequent audit must not read every month."""
    for month in MONTHS:
        ledger_months.add_tables(month)
    move()
    source = run("SELECT prosrc FROM pg_proc WHERE proname = 'billing_doubled_rows'")[0][0]
    assert "m.%2$I >= %3$L AND m.%2$I < %4$L" in source
    [(first, end)] = run("SELECT first_id, end_id FROM billing_month_tables() WHERE month = %s LIMIT 1", MONTH)
    plan = plan_of(
        "SELECT h.id FROM ONLY billing_reservation h JOIN billing_reservation m ON m.id = h.id WHERE h.id >= "
        f"'{first}' AND h.id < '{end}' AND m.id >= '{first}' AND m.id < '{end}' AND m.tableoid <> h.tableoid"
    )
    assert set(re.findall(r"_2025_\d\d", plan)) == {"_2025_10"}


def plan_of(statement: str) -> str:
    with connection.cursor() as cursor:
        cursor.execute(f"EXPLAIN {statement}")
        return "\n".join(row[0] for row in cursor.fetchall())
