"""Whoever changes a month's tables behind the ledger's back is found out."""

from typing import Any

import pytest
from django.db import connection

from billing.queries import audit
from billing.queries.audit import Finding
from tests.billing.months.conftest import Old, run
from tests.factories.months import TABLES, move
from tests.support.unguarded import unguarded

pytestmark = pytest.mark.django_db

CALL, USAGE, CHARGE = (f"{hot}_2025_10" for hot in TABLES)
DETACH = "ALTER TABLE {0} NO INHERIT {1}"
BACK = "INSERT INTO {1} SELECT m.* FROM ONLY {0} m"

# What was done, the invariants that must name it, and the statements. `:name` is a call.
CORRUPTIONS: dict[str, tuple[Any, ...]] = {
    "a call missing": ({"seals_match", "charges_match_usage_and_price"}, f"DELETE FROM {CALL} WHERE id = :paid"),
    "a released call missing": ({"seals_match"}, f"DELETE FROM {CALL} WHERE id = :released"),
    "a usage record missing": ({"seals_match", "charges_match_usage_and_price"}, f"DELETE FROM {USAGE}"),
    "a charge missing": ({"seals_match", "accounts_match_transfers"}, f"DELETE FROM {CHARGE} WHERE source = :paid"),
    "a whole call missing": (
        {"seals_match", "accounts_match_transfers", "usage_days_match_calls"},
        f"DELETE FROM {CALL} WHERE id = :paid",
        f"DELETE FROM {USAGE} WHERE reservation_id = :paid",
        f"DELETE FROM {CHARGE} WHERE source = :paid",
    ),
    "a call altered": ({"seals_match"}, f"UPDATE {CALL} SET request_id = 'req_other' WHERE id = :paid"),
    "a call reopened": (
        {"seals_match", "months_are_intact"},
        f"ALTER TABLE {CALL} DROP CONSTRAINT of_the_month",
        f"UPDATE {CALL} SET closed_at = NULL, state = 'dispatched' WHERE id = :paid",
    ),
    "a charge altered": (
        {"seals_match", "accounts_match_transfers"},
        f"UPDATE {CHARGE} SET amount_microusd = 1 WHERE source = :paid",
    ),
    "usage altered": ({"seals_match"}, f"UPDATE {USAGE} SET input_tokens = 1 WHERE reservation_id = :paid"),
    "a call in both": ({"months_are_intact", "seals_match"}, BACK.format(CALL, TABLES[0]) + " WHERE m.id = :paid"),
    "a usage record in both": (
        {"months_are_intact", "seals_match"},
        BACK.format(USAGE, TABLES[1]) + " WHERE m.reservation_id = :paid",
    ),
    "a charge in both": (
        {"months_are_intact", "accounts_match_transfers", "seals_match"},
        BACK.format(CHARGE, TABLES[2]) + " WHERE m.source = :paid",
    ),
    "a charge once more": (
        {"months_are_intact", "accounts_match_transfers", "seals_match"},
        "INSERT INTO billing_transfer (kind, source, seq, debit_account, credit_account, amount_microusd, wallet_id,"
        " created_at) SELECT kind, source, seq, debit_account, credit_account, amount_microusd, wallet_id, created_at"
        f" FROM {CHARGE} WHERE source = :paid",
    ),
    "a key of a moved call used twice": (
        {"key_is_kept_for_a_day", "seals_match"},
        "UPDATE billing_reservation SET idempotency_key = 'key 1', created_at = '2025-10-17 12:00Z',"
        " closed_at = '2025-10-17 12:00Z' WHERE id = :recent",
    ),
    "a call in another month": (
        {"months_are_intact"},
        "SELECT billing_add_month('2025-09-01')",
        "ALTER TABLE billing_reservation_2025_09 DROP CONSTRAINT of_the_month",
        f"INSERT INTO billing_reservation_2025_09 SELECT m.* FROM {CALL} m WHERE m.id = :paid",
        f"DELETE FROM {CALL} WHERE id = :paid",
    ),
    "bounds that allow more": (
        {"months_are_intact"},
        f"ALTER TABLE {CALL} DROP CONSTRAINT of_the_month",
        f"ALTER TABLE {CALL} ADD CONSTRAINT of_the_month CHECK (id >= 'use_01')",
    ),
    "bounds that nobody looked at": (
        {"months_are_intact"},
        f"ALTER TABLE {CHARGE} DROP CONSTRAINT of_the_month",
        f"DO $$ BEGIN EXECUTE (SELECT 'ALTER TABLE {CHARGE} ADD CONSTRAINT of_the_month CHECK (' || bounds || ') NOT VALID'"
        f" FROM billing_month_tables() WHERE name = '{CHARGE}'); END $$",
    ),
    "a table detached": ({"months_are_intact", "seals_match"}, DETACH.format(CALL, TABLES[0])),
    "the charges detached": ({"months_are_intact", "accounts_match_transfers"}, DETACH.format(CHARGE, TABLES[2])),
    "the usage detached": ({"months_are_intact", "seals_match"}, DETACH.format(USAGE, TABLES[1])),
    "a table dropped": ({"months_are_intact", "seals_match"}, f"DROP TABLE {CALL}"),
    "the charges dropped": ({"months_are_intact", "accounts_match_transfers"}, f"DROP TABLE {CHARGE}"),
    "a table emptied": ({"seals_match", "accounts_match_transfers"}, f"TRUNCATE {CHARGE}"),
    "a month forgotten": ({"months_are_intact"}, "DELETE FROM billing_ledger_month"),
    "a month made up": ({"months_are_intact"}, "INSERT INTO billing_ledger_month (month) VALUES ('2025-01-01')"),
    "a stranger's table": ({"months_are_intact"}, f"CREATE TABLE billing_more () INHERITS ({TABLES[2]})"),
    "a stranger's table below a month's": ({"months_are_intact"}, f"CREATE TABLE more () INHERITS ({CALL})"),
    "a guard disabled": ({"months_are_intact"}, f"ALTER TABLE {CALL} DISABLE TRIGGER month_stays"),
    "all guards disabled": ({"months_are_intact"}, f"ALTER TABLE {USAGE} DISABLE TRIGGER ALL"),
    "a guard that fires for replicas alone": ({"months_are_intact"}, f"ALTER TABLE {CALL} ENABLE REPLICA TRIGGER month_admits"),
    "a guard dropped": ({"months_are_intact"}, f"DROP TRIGGER month_admits ON {CHARGE}"),
    "a guard of another function": (
        {"months_are_intact"},
        f"CREATE OR REPLACE TRIGGER month_is_not_emptied BEFORE TRUNCATE ON {CALL} FOR EACH STATEMENT"
        " EXECUTE FUNCTION suppress_redundant_updates_trigger()",
    ),
    "a trigger beside the guards": (
        {"months_are_intact"},
        f"CREATE TRIGGER other BEFORE INSERT ON {CALL} FOR EACH ROW EXECUTE FUNCTION suppress_redundant_updates_trigger()",
    ),
    "a rule": ({"guards_are_intact"}, f"CREATE RULE r AS ON DELETE TO {CALL} DO INSTEAD NOTHING"),
    "a guard's function replaced": (
        {"guards_are_intact"},
        "CREATE OR REPLACE FUNCTION billing_month_stays() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END'",
    ),
    "the hot table lets go": ({"guards_are_intact"}, f"DROP TRIGGER transfer_only_moves ON {TABLES[2]}"),
    "the hot table is told to let go": ({"guards_are_intact"}, f"ALTER TABLE {TABLES[0]} DISABLE TRIGGER reservation_only_moves"),
    "an index dropped": ({"months_are_intact"}, "DROP INDEX transfer_posted_once_2025_10"),
    "an index that is another": (
        {"months_are_intact"},
        "DROP INDEX transfer_posted_once_2025_10",
        f"CREATE INDEX transfer_posted_once_2025_10 ON {CHARGE} (source, kind, seq)",
    ),
    "a column more": ({"months_are_intact"}, f"ALTER TABLE {CALL} ADD COLUMN note text"),
}  # fmt: skip


@pytest.fixture
def moved(old: Old) -> Old:
    """Have everything moved that may."""
    old.calls["paid"] = old["paid 1"]
    move()
    run("SET CONSTRAINTS ALL IMMEDIATE")
    return old


def findings_except_of_dates() -> list[Finding]:
    return [one for one in audit.findings() if one.invariant not in {"nothing_is_stale", "dates_are_in_order"}]


@pytest.mark.parametrize("corruption", CORRUPTIONS)
def test_is_named(moved: Old, corruption: str) -> None:
    assert findings_except_of_dates() == []
    invariants, *statements = CORRUPTIONS[corruption]
    with unguarded(), connection.cursor() as cursor:
        for statement in statements:
            for name in ("paid", "released", "recent"):
                statement = statement.replace(f":{name}", f"'{moved[name]}'")
            cursor.execute(statement)
            assert cursor.rowcount != 0, statement
    assert {finding.invariant for finding in findings_except_of_dates()} >= invariants
