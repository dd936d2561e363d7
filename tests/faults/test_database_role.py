"""The gateway works under a role that owns nothing, and that role cannot bypass the ledger's guards."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any

import psycopg
import pytest
import sqlparse
from django.core.management import CommandError, call_command
from django.db import DatabaseError, connection, transaction
from django.utils import timezone

from billing.queries import audit
from gateway.management import schema
from organizations.models import AuditEntry, Organization
from organizations.tasks import purge_audit_log
from tests.billing.months import conftest as months_ledger
from tests.billing.months.conftest import dropped_tables  # noqa: F401
from tests.factories import months
from tests.factories.months import TABLES
from tests.support.database import connect
from tests.support.processes import gateway_process
from tests.support.stage import Stage, chat

GRANTS = Path(__file__).parents[2] / "deploy" / "database_role.sql"
RETENTION = Path(__file__).parents[2] / "docs" / "retention.md"
PASSWORD = "only-for-this-test"

FORBIDDEN = [
    "TRUNCATE billing_transfer",
    "TRUNCATE billing_seal",
    "DELETE FROM billing_transfer",
    "DELETE FROM billing_reservation",
    "DELETE FROM billing_wallet",
    "UPDATE billing_transfer SET amount_microusd = 1",
    "UPDATE billing_usage_record SET charge_microusd = 1",
    "UPDATE billing_price_version SET components = '{}'",
    "UPDATE billing_cost_version SET components = '{}'",
    "UPDATE billing_seal SET chain = ''",
    "DELETE FROM billing_invoice",
    "DELETE FROM billing_invoice_payment",
    "UPDATE billing_invoice_line SET amount_microusd = 1",
    "UPDATE billing_credit_note SET amount_microusd = 1",
    "UPDATE billing_seat_price SET price_microusd = 1",
    "UPDATE billing_provider_movement SET amount_microusd = 1",
    "DELETE FROM billing_matched_day",
    "DELETE FROM billing_payment_difference",
    "DELETE FROM billing_difference_closing",
    "DELETE FROM billing_lost_receipt",
    "INSERT INTO billing_ledger_month (month) VALUES ('2025-01-01')",
    "DELETE FROM billing_ledger_month",
    "SELECT billing_add_month('2025-01-01')",
    "ALTER TABLE billing_transfer DISABLE TRIGGER ALL",
    "DROP TRIGGER transfer_stays ON billing_transfer",
    "DROP TABLE billing_seal",
    "SET session_replication_role = replica",
    "CREATE OR REPLACE FUNCTION billing_refuse_change() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END'",
]

# Old months are read through the hot tables, and moved by the owner.
OF_EACH = [
    "SELECT FROM {}",
    "INSERT INTO {0} SELECT * FROM {0} LIMIT 1",
    "LOCK {} IN ROW EXCLUSIVE MODE",
    "DELETE FROM {}",
    "TRUNCATE {}",
    "ALTER TABLE {} DISABLE TRIGGER ALL",
    "DROP TABLE {}",
]
OF_MONTHS = [
    "UPDATE billing_reservation SET state = 'dispatched', closed_at = NULL WHERE tableoid <> 'billing_reservation'::regclass",
    "UPDATE billing_reservation SET replayable = false WHERE tableoid <> 'billing_reservation'::regclass",
    "SELECT * FROM billing_move_calls('2025-10-01', now(), '', 100, false)",
    "DELETE FROM ONLY billing_transfer",
    "DELETE FROM ONLY billing_reservation",
]


@pytest.fixture(scope="module")
def role(django_db_setup: None, django_db_blocker: Any) -> Iterator[str]:
    """Create the role as the operators' guide says, under a name that is unique to this database."""
    with django_db_blocker.unblock(), connect() as owner:
        name = f"{connection.settings_dict['NAME']}_app"
        owner.execute(GRANTS.read_text().replace("gateway_app", name).encode())
        owner.execute(f"ALTER ROLE {name} PASSWORD '{PASSWORD}'".encode())
        owner.commit()
        yield name
        owner.execute(f"DROP OWNED BY {name}".encode())
        owner.execute(f"DROP ROLE {name}".encode())


def run_by_statement(owner: Any, script: str, role: str) -> None:
    """Run a script as psql does."""
    for statement in sqlparse.split(script.replace("gateway_app", role)):
        owner.execute(statement.encode())


def has(role: str, privilege: str) -> bool:
    with connect() as beside:
        [(answer,)] = beside.execute("SELECT has_table_privilege(%s, 'billing_transfer', %s)", [role, privilege])
        return bool(answer)


def url_of(role: str) -> str:
    at = connection.settings_dict
    return f"postgresql://{role}:{PASSWORD}@{at['HOST']}:{at['PORT']}/{at['NAME']}"


def test_a_call_is_paid(stage: Stage, role: str) -> None:
    alias, caller = stage.model("small-1", max_output_tokens=20), stage.caller(balance=5000)
    with gateway_process(DATABASE_URL=url_of(role)) as (origin, _):
        caller.origin = origin
        answers = [caller.post(chat(alias, stream=stream), key=key) for stream, key in ((False, "one"), (True, "two"))]
    assert [answer.status_code for answer in answers] == [200, 200]
    charges = [call.charge_microusd for call in caller.calls]
    assert len(charges) == 2
    assert all(charges)
    assert caller.wallet == {"balance": 5000 - sum(charges), "held": 0, "debt": 0}
    assert audit.findings() == []


@pytest.mark.parametrize(
    "job", [*("reap", "reconcile", "sweep_lots", "purge_replays", "purge_events", "seal_ledger", "audit_ledger")]
)
def test_the_jobs_run(stage: Stage, role: str, job: str) -> None:
    stage.caller(balance=5000)
    with connection.cursor() as cursor:
        cursor.execute(f"SET ROLE {role}")
        try:
            getattr(__import__("billing.tasks", fromlist=[job]), job)()
        finally:
            cursor.execute("RESET ROLE")


@pytest.mark.django_db(transaction=True)
def test_purges_the_audit_log_as_soon_as_it_is_granted(role: str, settings: Any) -> None:
    settings.AUDIT_DAYS = 365
    at = timezone.now() - timedelta(days=366)
    organization = Organization.objects.create(id="org_1", name="Acme", created_at=at, changed_at=at)
    AuditEntry.objects.create(organization=organization, actor_did="did:a", action="a.b", subject="c", created_at=at)
    with connection.cursor() as cursor:
        cursor.execute(f"SET ROLE {role}")
        try:
            with pytest.raises(DatabaseError, match="permission denied"):
                purge_audit_log()
            cursor.execute("RESET ROLE")
            [grant] = re.findall(r"^GRANT .+;$", RETENTION.read_text(), re.MULTILINE)
            cursor.execute(grant.replace("gateway_app", role))
            cursor.execute(f"SET ROLE {role}")
            assert (purge_audit_log(), purge_audit_log()) == (1, 0)
        finally:
            cursor.execute("RESET ROLE")


@pytest.mark.django_db(transaction=True)
@pytest.mark.usefixtures("dropped_tables")
def test_reads_old_months_and_never_writes_to_them(role: str) -> None:
    old = months_ledger.furnish()
    with connection.cursor() as cursor:
        months.move(before=months.AT + timedelta(hours=1))  # so that some remain to be moved
        cursor.execute(GRANTS.read_text().replace("gateway_app", role))
        before = months_ledger.readings(old)
        cursor.execute(f"SET ROLE {role}")
        try:
            assert months_ledger.readings(old) == before
            assert months_ledger.unsound() == []
            for statement in (
                *OF_MONTHS,
                *(one.format(name) for one in OF_EACH for name in map(months.name_of, TABLES)),
            ):
                with (
                    pytest.raises(DatabaseError, match=r"permission denied|must be owner|never changed"),
                    transaction.atomic(),
                ):
                    cursor.execute(statement)
            with pytest.raises(CommandError, match="Only the owner of the tables may move rows"):
                call_command("move_ledger_month", "2025-10")
        finally:
            cursor.execute("RESET ROLE")
    assert months_ledger.readings(old) == before


def test_its_rights_do_not_change_while_the_script_runs_again(role: str) -> None:
    with connect(autocommit=True) as owner:
        for statement in sqlparse.split(GRANTS.read_text().replace("gateway_app", role)):
            owner.execute(statement.encode())
            rights = [right for right in ("SELECT", "INSERT", "UPDATE", "DELETE") if has(role, right)]
            assert rights == ["SELECT", "INSERT"], statement


def test_a_run_that_fails_changes_nothing(role: str) -> None:
    with connect(autocommit=True) as owner:
        owner.execute(f"GRANT TRUNCATE ON billing_transfer TO {role}".encode())
        with pytest.raises(psycopg.errors.UndefinedTable):
            run_by_statement(owner, GRANTS.read_text().replace("billing_matched_day", "no_such_table"), role)
    assert has(role, "TRUNCATE")


def test_the_script_revokes_other_grants(role: str) -> None:
    with connect(autocommit=True) as owner:
        owner.execute(f"GRANT TRUNCATE ON billing_transfer TO {role}".encode())
        owner.execute(GRANTS.read_text().replace("gateway_app", role).encode())
    assert not has(role, "TRUNCATE")


@pytest.mark.parametrize("statement", FORBIDDEN)
def test_a_forbidden_statement_is_refused(role: str, statement: str) -> None:
    with psycopg.connect(url_of(role)) as application, pytest.raises(psycopg.errors.InsufficientPrivilege):
        application.execute(statement.encode())


@contextmanager
def undone() -> Iterator[None]:
    """Undo everything afterwards, the change of role as well."""
    with transaction.atomic():
        yield
        transaction.set_rollback(True)


@pytest.mark.parametrize(
    ("change", "lacks"),
    [
        ("SELECT", None),
        ("DELETE FROM django_migrations WHERE app = 'judgement' AND name > '0002'", "migrations to apply: 1"),
        (
            "CREATE OR REPLACE FUNCTION billing_refuse_change() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END'",
            "functions, views or triggers that differ: billing_refuse_change",
        ),
        (
            "ALTER TABLE billing_transfer DISABLE TRIGGER transfer_stays",
            "functions, views or triggers that differ: transfer_stays",
        ),
        (
            "INSERT INTO django_migrations (app, name, applied) VALUES ('billing', '9999_of_a_newer_version', now())",
            None,
        ),
    ],
    ids=["none", "migration", "function", "trigger", "newer version"],
)
def test_what_the_role_may_not_change_is_reported(stage: Stage, role: str, change: str, lacks: str | None) -> None:
    with undone(), connection.cursor() as cursor:
        cursor.execute(change)
        cursor.execute(f"SET LOCAL ROLE {role}")
        if lacks is None:
            schema.bring_up_to_date()
        else:
            with pytest.raises(CommandError, match=re.escape(f"({lacks}), and the role {role} may not change it: run")):
                schema.bring_up_to_date()
