"""A database holds the functions, views and triggers that the files say, and nothing else."""

from typing import Any

import pytest
from django.contrib.auth.models import Permission
from django.core.management import call_command
from django.db import connection
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.recorder import MigrationRecorder

from accounts.models import OperatorRole
from gateway.core.database import sql
from gateway.management.schema import bring_up_to_date
from tests.gateway.schema import Schema, schema

pytestmark = pytest.mark.django_db

INSTALLED = ("functions", "views", "triggers")
TABLE_LOCKS = """
SELECT c.relname, l.mode FROM pg_locks l JOIN pg_class c ON c.oid = l.relation
 WHERE l.pid = pg_backend_pid() AND c.relkind = 'r' AND l.mode IN ('ShareRowExclusiveLock', 'AccessExclusiveLock')
"""
DAMAGE = {
    "another body": "CREATE OR REPLACE FUNCTION accounts_liveness(p_did text, p_session_id text) RETURNS text "
    "LANGUAGE sql STABLE AS $$ SELECT 'ok' $$",
    "another view": "CREATE OR REPLACE VIEW billing_sealable AS "
    "SELECT 'call' AS noun, now() AS at, ''::text COLLATE \"C\" AS key, ''::bytea AS digest",
    "no trigger": "DROP TRIGGER transfer_stays ON billing_transfer",
    "a disabled trigger": "ALTER TABLE billing_wallet DISABLE TRIGGER wallet_is_sound",
    "a trigger too many": "CREATE TRIGGER seal_not_truncated BEFORE TRUNCATE ON billing_seal "
    "FOR EACH STATEMENT EXECUTE FUNCTION billing_refuse_change()",
    "another trigger": "CREATE OR REPLACE TRIGGER seal_stays BEFORE DELETE ON billing_seal "
    "FOR EACH STATEMENT EXECUTE FUNCTION billing_refuse_change()",
}


def run(statement: str) -> list[Any]:
    with connection.cursor() as cursor:
        cursor.execute(statement)
        return cursor.fetchall() if cursor.description else []


def installed() -> Schema:
    with connection.cursor() as cursor:
        return schema(cursor, *INSTALLED)


def test_migrations_leave_exactly_what_the_files_say() -> None:
    after_migrations = installed()
    run(f"DROP VIEW {', '.join(after_migrations['views'])}")
    for function in after_migrations["functions"]:
        run(f"DROP FUNCTION {function} CASCADE")
    assert installed() == {part: {} for part in INSTALLED}
    sql.install("default")
    assert installed() == after_migrations


@pytest.mark.parametrize("damage", DAMAGE.values(), ids=DAMAGE)
def test_every_migrate_installs_what_differs(damage: str) -> None:
    before = installed()
    run(damage)
    assert installed() != before
    call_command("migrate", verbosity=0)
    assert installed() == before


def rights_of_roles() -> set[tuple[str, str]]:
    return set(OperatorRole.objects.values_list("name", "group__permissions__codename"))


def test_a_start_does_what_follows_every_migrate_though_nothing_is_to_be_migrated() -> None:
    before, rights = installed(), rights_of_roles()
    for damage in DAMAGE.values():
        run(damage)
    Permission.objects.filter(codename="view_call").delete()
    OperatorRole.objects.order_by("name")[0].group.permissions.clear()
    assert rights_of_roles() != rights
    bring_up_to_date()
    assert (installed(), rights_of_roles()) == (before, rights)


def test_a_start_records_the_migration_that_replaces_those_that_were_applied() -> None:
    recorder = MigrationRecorder(connection)
    replacing, migration = min(MigrationLoader(None).replacements.items())
    recorder.record_unapplied(*replacing)
    for replaced in migration.replaces:
        recorder.record_applied(*replaced)
    bring_up_to_date()
    assert replacing in recorder.applied_migrations()


def test_installing_what_is_there_keeps_nobody_from_writing() -> None:
    sql.install("default")
    assert run(TABLE_LOCKS) == []


def test_nothing_is_installed_while_migrations_are_to_come() -> None:
    run("DROP FUNCTION accounts_liveness(text, text)")
    without = installed()
    run("DELETE FROM django_migrations WHERE app = 'inference'")
    sql.after_migrate(using="default", plan=[])
    assert installed() == without


def test_emptying_a_database_installs_nothing() -> None:
    run("DROP FUNCTION accounts_liveness(text, text)")
    without = installed()
    sql.after_migrate(using="default")
    assert installed() == without
