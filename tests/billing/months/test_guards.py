"""The hot tables let go of nothing but what moved, and a month's tables take nothing else and change nothing."""

import pytest
from django.core.management import call_command
from django.db import Error, IntegrityError, connection, transaction

from billing.operations import ledger_months
from tests.billing.months.conftest import Old, rows_of, run, unsound
from tests.factories.months import MONTH, TABLES, move
from tests.support.unguarded import unguarded

pytestmark = pytest.mark.django_db

CALL, USAGE, CHARGE = (f"{hot}_2025_10" for hot in TABLES)
COPY = f"INSERT INTO {CALL} SELECT r.* FROM ONLY billing_reservation r WHERE r.id = :paid"

# Of `:moved`, a call that is in its month's tables; of `:paid`, one that may move and has not.
FOREVER = [
    f"UPDATE {CALL} SET charge_microusd = 1 WHERE id = :moved",
    f"UPDATE {CALL} SET replayable = false WHERE id = :moved",
    f"DELETE FROM {CALL} WHERE id = :moved",
    f"TRUNCATE {CALL}",
    f"UPDATE {USAGE} SET input_tokens = 1",
    f"DELETE FROM {USAGE}",
    f"TRUNCATE {USAGE}",
    f"UPDATE {CHARGE} SET amount_microusd = 1",
    f"DELETE FROM {CHARGE}",
    f"TRUNCATE {CHARGE}",
    "UPDATE billing_reservation SET state = 'dispatched', closed_at = NULL, charge_microusd = NULL WHERE id = :moved",
    "UPDATE billing_reservation SET replayable = false WHERE id = :moved",
    "UPDATE billing_usage_record SET charge_microusd = 1 WHERE reservation_id = :moved",
    "UPDATE billing_transfer SET amount_microusd = 1 WHERE source = :moved",
    "DELETE FROM billing_reservation WHERE id = :moved",
    "DELETE FROM billing_usage_record WHERE reservation_id = :moved",
    "DELETE FROM billing_transfer WHERE source = :moved",
]
LOST = [
    "DELETE FROM billing_reservation WHERE id = :paid",
    "DELETE FROM ONLY billing_reservation WHERE id = :paid",
    "DELETE FROM ONLY billing_reservation WHERE closed_at IS NULL",
    "DELETE FROM ONLY billing_usage_record WHERE reservation_id = :paid",
    "DELETE FROM ONLY billing_transfer WHERE source = :paid",
    "DELETE FROM ONLY billing_transfer WHERE kind = 'payment'",
    "TRUNCATE ONLY billing_reservation CASCADE",
    "TRUNCATE ONLY billing_transfer",
    "WITH gone AS (DELETE FROM ONLY billing_usage_record RETURNING *) SELECT count(*) FROM gone",
    "MERGE INTO ONLY billing_transfer t USING (SELECT 1) o ON t.source = :paid WHEN MATCHED THEN DELETE",
    # Temporary tables have the names of those that the guard reads.
    f"CREATE TEMP TABLE {CHARGE} AS SELECT t.* FROM ONLY billing_transfer t; CREATE TEMP TABLE pg_inherits AS"
    f" SELECT 'pg_temp.{CHARGE}'::regclass::oid AS inhrelid, 'billing_transfer'::regclass::oid AS inhparent;"
    " DELETE FROM ONLY billing_transfer WHERE source = :paid",
    # Its copy is there, but another row goes with it.
    f"{COPY}; DELETE FROM ONLY billing_reservation WHERE id IN (:paid, :recent)",
]
SMUGGLED = [
    f"INSERT INTO {CALL} SELECT r.* FROM ONLY billing_reservation r WHERE r.id = :overrun",
    f"INSERT INTO {CALL} SELECT (jsonb_populate_record(r, '{{\"charge_microusd\": 1}}')).* FROM ONLY billing_reservation r"
    " WHERE r.id = :paid",
    f"INSERT INTO {CALL} SELECT (jsonb_populate_record(r, '{{\"evidence\": {{}}}}')).* FROM ONLY billing_reservation r"
    " WHERE r.id = :paid",
    f"INSERT INTO {CALL} SELECT (jsonb_populate_record(r, jsonb_build_object('id', r.id || 'x'))).*"
    " FROM ONLY billing_reservation r WHERE r.id = :paid",
    f"INSERT INTO {USAGE} SELECT u.* FROM ONLY billing_usage_record u WHERE u.reservation_id = :paid",
    f"INSERT INTO {CHARGE} SELECT t.* FROM ONLY billing_transfer t WHERE t.source = :paid",
    f"{COPY}; INSERT INTO {USAGE} SELECT (jsonb_populate_record(u, '{{\"input_tokens\": 1}}')).*"
    " FROM ONLY billing_usage_record u WHERE u.reservation_id = :paid",
    f"{COPY}; INSERT INTO {CHARGE} SELECT (jsonb_populate_record(t, '{{\"amount_microusd\": 1}}')).*"
    " FROM ONLY billing_transfer t WHERE t.source = :paid",
    f"{COPY}; INSERT INTO {CHARGE} SELECT (jsonb_populate_record(t, '{{\"id\": -1}}')).*"
    " FROM ONLY billing_transfer t WHERE t.source = :paid",
    f"{COPY}; CREATE TEMP TABLE billing_transfer AS SELECT (jsonb_populate_record(t, '{{\"amount_microusd\": 1}}')).*"
    f" FROM public.billing_transfer t WHERE t.source = :paid; INSERT INTO {CHARGE} SELECT * FROM pg_temp.billing_transfer",
    f"{COPY}; {COPY}",
    f"{COPY} ON CONFLICT (id) DO NOTHING; {COPY} ON CONFLICT (id) DO UPDATE SET charge_microusd = 1",
]
OUT_OF_BOUNDS = [
    f"INSERT INTO {CALL} SELECT r.* FROM ONLY billing_reservation r WHERE r.id = :recent",
    f"INSERT INTO {CALL} SELECT r.* FROM ONLY billing_reservation r WHERE r.id = :open",
    f"INSERT INTO {CHARGE} SELECT t.* FROM ONLY billing_transfer t WHERE t.kind = 'payment'",
]


@pytest.fixture
def half(old: Old) -> Old:
    """Have one call left in the hot tables that may move, and the rest moved."""
    old.calls["moved"], old.calls["paid"] = old["late"], old["paid 0"]
    with connection.cursor() as cursor:
        cursor.execute("SELECT billing_add_month('2025-10-01')")
        cursor.execute("SELECT last_id FROM billing_move_calls('2025-10-01', now(), %s, 100, false)", [old["paid"]])
    [(moved,)] = run(f"SELECT array_agg(id) FROM ONLY {CALL}")
    assert old["moved"] in moved
    assert old["paid"] not in moved
    return old


def refused(old: Old, statement: str, words: str) -> None:
    """Run it, see it refused with these words, and find all as before."""
    for name in ("paid", "moved", "recent", "open", "overrun"):
        statement = statement.replace(f":{name}", f"'{old[name]}'")
    before = {hot: rows_of(hot) for hot in TABLES}
    with connection.cursor() as cursor:
        cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")
        with pytest.raises(IntegrityError, match=words), transaction.atomic():
            cursor.execute(statement)
    assert {hot: rows_of(hot) for hot in TABLES} == before


@pytest.mark.parametrize("statement", FOREVER)
def test_what_moved_stays(half: Old, statement: str) -> None:
    refused(half, statement, "never changed or deleted")


@pytest.mark.parametrize("statement", LOST)
def test_nothing_leaves_without_a_copy(half: Old, statement: str) -> None:
    refused(half, statement, "never changed or deleted")


@pytest.mark.parametrize("statement", SMUGGLED)
def test_nothing_comes_in_but_what_may_move(half: Old, statement: str) -> None:
    refused(
        half, statement, "takes only rows of the hot table that may move|unique constraint|never changed or deleted"
    )


@pytest.mark.parametrize("statement", OUT_OF_BOUNDS)
def test_nothing_comes_in_of_another_month(half: Old, statement: str) -> None:
    refused(half, statement, "of_the_month")


@pytest.mark.parametrize(
    "forgery",
    [
        f"UPDATE {CALL} SET charge_microusd = charge_microusd - 1 WHERE id = :paid",
        f"UPDATE {CALL} SET evidence = '{{}}' WHERE id = :paid",
        f"ALTER TABLE {CALL} NO INHERIT billing_reservation",
    ],
)
def test_a_copy_that_differs_lets_nothing_go(half: Old, forgery: str) -> None:
    with unguarded():
        run(COPY.replace(":paid", f"'{half['paid']}'"))
        run(forgery.replace(":paid", f"'{half['paid']}'"))
    refused(half, "DELETE FROM ONLY billing_reservation WHERE id = :paid", "never changed or deleted")


def test_the_rest_moves_on_request(half: Old) -> None:
    assert sum(batch.calls for batch in move()) > 0
    assert {usage_id for (usage_id,) in run(f"SELECT id FROM ONLY {CALL}")} == half.movable
    assert unsound() == []


@pytest.mark.parametrize(
    "damage",
    [
        f"ALTER TABLE {CALL} DISABLE TRIGGER month_stays",
        f"DROP TRIGGER month_admits ON {CHARGE}",
        f"DROP TRIGGER month_is_not_emptied ON {USAGE}",
        f"CREATE OR REPLACE TRIGGER month_stays BEFORE DELETE ON {CALL} FOR EACH ROW EXECUTE FUNCTION billing_month_stays()",
        "DROP INDEX reservation_of_wallet_2025_10",
        "DROP INDEX transfer_posted_once_2025_10",
        f"DROP INDEX reservation_open_2025_10; CREATE INDEX reservation_open_2025_10 ON {CALL} (id)",
        "CREATE INDEX reservation_new ON billing_reservation (model) WHERE closed_at IS NOT NULL",
    ],
)
def test_every_migrate_mends_the_tables_of_months(old: Old, damage: str) -> None:
    move()
    run("SET CONSTRAINTS ALL IMMEDIATE")
    assert ledger_months.tend() == 0
    run(damage)
    assert [finding.split(":")[0] for finding in unsound()] == ["months_are_intact"]
    assert ledger_months.tend() in {1, 2}
    assert unsound() == []
    assert ledger_months.tend() == 0


def test_migrate_tends_the_tables_of_months(old: Old) -> None:
    move()
    run("SET CONSTRAINTS ALL IMMEDIATE")
    run(f"ALTER TABLE {CALL} DISABLE TRIGGER month_stays")
    run("DROP INDEX transfer_posted_once_2025_10")
    assert unsound() != []
    call_command("migrate", verbosity=0)
    assert unsound() == []


def test_an_index_that_the_hot_table_lost_goes_from_its_months(old: Old) -> None:
    ledger_months.add_tables(MONTH)
    run("SET CONSTRAINTS ALL IMMEDIATE")
    run("DROP INDEX reservation_open")
    assert ledger_months.tend() == 1
    assert run("SELECT to_regclass('reservation_open_2025_10')") == [(None,)]


def test_a_column_of_the_hot_table_reaches_its_months(old: Old) -> None:
    move()
    run("SET CONSTRAINTS ALL IMMEDIATE")
    run("ALTER TABLE billing_reservation ADD COLUMN note text DEFAULT 'none'")
    assert run(f"SELECT DISTINCT note FROM {CALL}") == [("none",)]
    assert unsound() == []


def test_what_a_stranger_makes_inherit_admits_nothing(old: Old) -> None:
    """A table of a month's name that no month has made."""
    run("SET CONSTRAINTS ALL IMMEDIATE")
    run("CREATE TABLE billing_reservation_2025_10 () INHERITS (billing_reservation)")
    with pytest.raises(Error), transaction.atomic():
        run(
            f"INSERT INTO {CALL} SELECT r.* FROM ONLY billing_reservation r WHERE r.id = '{old['paid 0']}';"
            f" DELETE FROM ONLY billing_reservation WHERE id = '{old['paid 0']}'"
        )
