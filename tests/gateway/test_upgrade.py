"""A database of the version before is brought up to date: it holds what a new one holds.

`schema_of_0_1.sql.gz` is such a database: `pg_dump --schema-only` after every migration, with the rows of
`django_migrations` and `django_content_type`.
"""

import gzip
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any

import psycopg
import pytest
from django.apps import apps
from django.db import connection as django_connection
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.state import ProjectState
from psycopg import sql
from psycopg.types.json import Json

from gateway.run.options import PROJECT_DIR
from tests.gateway.schema import Schema, schema
from tests.support.database import connect
from tests.support.forked import run
from tests.upgrade.tables import Shape, missed

DUMP = Path(__file__).with_name("schema_of_0_1.sql.gz")
NAME, FORMER, UPGRADED, USED = (f"{name}_{os.getpid()}" for name in ("upgrade", "former", "upgraded", "used"))
"""A test's database, and those that tests copy: one of the version before, it brought up to date, and one that was used before."""

# Calls of that version: of a person who pays from a credit and the balance, and of an organization with a budget.
CALLS = """
INSERT INTO billing_price_version (alias, components) VALUES ('fast', '{"input_token": "0.15"}');
INSERT INTO billing_checkout (
  id, owner_kind, owner_key, kind, amount_microusd, idempotency_key, requested_by, provider, is_live, session_ref, url,
  status, paid_at, taken_back_microusd, movements, checks)
SELECT 'txn_' || o.kind, o.kind, o.key, 'top_up', 1000, 'k', o.key, 'stripe', false, o.kind, 'https://pay.example',
       'paid', now(), 0, 0, 0
  FROM (VALUES ('account', 'alice'), ('organization', 'acme')) AS o (kind, key);
SELECT billing_take_payment(c.owner_kind, c.owner_key, NULL, 1000, c.id, 'unused') FROM billing_checkout c;
SELECT billing_grant_credit('crd_1', 'account', 'alice', NULL, 300, NULL, 'test', 'one');
INSERT INTO billing_budget (id, wallet_id, scope, limit_microusd, period_start)
SELECT 'bud_1', w.id, 'org', 900, date_trunc('month', now() AT TIME ZONE 'UTC') FROM billing_wallet w
 WHERE w.owner_kind = 'organization';
SELECT billing_reserve(
         c.id, c.kind, c.owner, c.owner, NULL, NULL, NULL, 'chat.completions', 'fast', NULL, c.id, 'digest', c.hold, c.hold,
         (SELECT id FROM billing_price_version), CASE WHEN c.is_sent THEN now() + interval '1 hour' END)
  FROM (VALUES ('unsent', 'account', 'alice', 500, false), ('sent', 'account', 'alice', 100, true),
               ('of_acme', 'organization', 'acme', 50, false), ('sent_of_acme', 'organization', 'acme', 20, true))
    AS c (id, kind, owner, hold, is_sent);
"""
HELD = """
SELECT (SELECT jsonb_object_agg(w.owner_key, w.held_microusd) FROM billing_wallet w),
       (SELECT l.held_microusd FROM billing_credit_lot l), (SELECT b.held_microusd FROM billing_budget b)
"""
# A group has the right to calls under their former name; another group, a person and the log have it under the new one.
RIGHTS_UNDER_BOTH_NAMES = """
INSERT INTO auth_group (name) VALUES ('former'), ('new');
INSERT INTO auth_group_permissions (group_id, permission_id)
SELECT g.id, p.id FROM auth_group g JOIN auth_permission p
    ON (g.name, p.codename) IN (('former', 'view_reservation'), ('new', 'view_call'), ('new', 'change_call'));
WITH person AS (
  INSERT INTO accounts_account (password, is_superuser, did, email, display_name, is_active, is_staff, created_at)
  VALUES ('', false, 'did:example:op', 'op@example.com', '', true, true, now()) RETURNING id
), given AS (
  INSERT INTO accounts_account_user_permissions (account_id, permission_id)
  SELECT person.id, p.id FROM person, auth_permission p WHERE p.codename = 'view_call'
)
INSERT INTO django_admin_log (action_time, object_repr, action_flag, change_message, content_type_id, user_id)
SELECT now(), 'use_1', 2, '', t.id, person.id FROM person, django_content_type t
 WHERE t.app_label = 'billing' AND t.model = 'call'
"""
RIGHT_UNDER_ITS_FORMER_NAME = """
INSERT INTO auth_permission (name, content_type_id, codename) SELECT 'Can view call', id, 'view_reservation'
  FROM django_content_type WHERE app_label = 'billing' AND model = 'reservation'
"""
RIGHT = "SELECT id FROM auth_permission WHERE codename = '{}'"
TYPES_OF_CALLS = "SELECT id FROM django_content_type WHERE app_label = 'billing' AND model = '{}'"
RIGHTS_OF_EACH = """
SELECT 'group', g.name, p.codename FROM auth_group_permissions JOIN auth_group g ON g.id = group_id
  JOIN auth_permission p ON p.id = permission_id WHERE g.id NOT IN (SELECT group_id FROM accounts_operator_role)
UNION ALL
SELECT 'person', a.did, p.codename FROM accounts_account_user_permissions JOIN accounts_account a ON a.id = account_id
  JOIN auth_permission p ON p.id = permission_id ORDER BY 1, 2, 3
"""
# Ends a migration that replaces others while they are recorded, and what an index leaves whose build was ended.
CUT_OFF = """
CREATE FUNCTION cut_off() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RAISE EXCEPTION ''cut off''; END';
CREATE TRIGGER cut_off BEFORE INSERT ON django_migrations FOR EACH ROW WHEN (NEW.name = '0015_usage_days')
  EXECUTE FUNCTION cut_off()
"""
LEFT_OVER = """
DROP FUNCTION cut_off() CASCADE;
CREATE INDEX reservation_of_member ON billing_reservation (id)
"""
STATES = "SELECT r.id, r.state, r.resolution, r.replayable FROM billing_reservation r ORDER BY r.id"


class Database:
    """A new database, which is a copy of another if one is named, and a connection to it."""

    def __init__(self, name: str, copied: str = "template1") -> None:
        self.name = name
        with connect(autocommit=True) as here:
            parts = map(sql.Identifier, (name, copied))
            here.execute(sql.SQL("CREATE DATABASE {} TEMPLATE {} STRATEGY FILE_COPY").format(*parts))
            self.parameters: dict[str, Any] = {
                **here.info.get_parameters(),
                "password": here.info.password,
                "dbname": name,
            }
        self.connection = psycopg.connect(**self.parameters, autocommit=True)

    def manage(self, *arguments: str) -> str:
        """Run a management command on it as a deployment would; return what it said."""
        done = self.run(*arguments)
        assert done.returncode == 0, done.stderr
        return done.stdout

    def refusal(self, *arguments: str) -> str:
        """Run a management command that must fail; return the last line that it said."""
        done = self.run(*arguments)
        assert done.returncode == 1
        assert "Traceback" not in done.stderr
        return done.stderr.strip().splitlines()[-1]

    def run(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        """Run a management command, whatever comes of it."""
        command = [sys.executable, "manage.py", *arguments]
        return run(command, cwd=PROJECT_DIR, env={**os.environ, "DATABASE_URL": self._url})

    def rows(self, query: str) -> list[tuple[Any, ...]]:
        """Return a query's rows."""
        return self.connection.execute(query.encode()).fetchall()

    @property
    def _url(self) -> str:
        given = self.parameters
        return f"postgresql://{given['user']}:{given['password']}@{given['host']}:{given['port']}/{self.name}"

    def close(self) -> None:
        """Drop it."""
        self.connection.close()
        with connect(autocommit=True) as here:
            here.execute(sql.SQL("DROP DATABASE {} WITH (FORCE)").format(sql.Identifier(self.name)))


def differences(one: Schema, other: Schema) -> set[tuple[str, str, str]]:
    """Return what only one of them has: part, name, definition."""
    ones, others = ({(part, *item) for part, items in them.items() for item in items.items()} for them in (one, other))
    return ones ^ others


@dataclass
class Found:
    """What the database that was used held before it was brought up to date."""

    held: list[tuple[Any, ...]]
    states: list[tuple[Any, ...]]
    right: list[tuple[Any, ...]]


@pytest.fixture(scope="module")
def former(django_db_setup: None) -> Iterator[Shape]:
    """Make a database of the version before, to be copied; yield what it has."""
    made = Database(FORMER)
    made.connection.execute("SET check_function_bodies = off")
    made.connection.execute(gzip.decompress(DUMP.read_bytes()))
    shape = Shape.read(made.connection)
    made.connection.close()
    yield shape
    made.close()


@pytest.fixture(scope="module")
def upgraded(former: Shape) -> Iterator[None]:
    """Bring a copy up to date, to be copied."""
    made = Database(UPGRADED, FORMER)
    made.manage("migrate", "--verbosity=0")
    made.connection.close()
    yield
    made.close()


@pytest.fixture(scope="module")
def used(former: Shape) -> Iterator[Found]:
    """Bring another copy up to date, to be copied, with calls and a right of that version; yield what there was before."""
    made = Database(USED, FORMER)
    made.connection.execute(CALLS.encode())
    made.connection.execute(RIGHT_UNDER_ITS_FORMER_NAME)
    found = Found(made.rows(HELD), made.rows(STATES), made.rows(RIGHT.format("view_reservation")))
    made.manage("migrate", "--verbosity=0")
    made.connection.close()
    yield found
    made.close()


@pytest.fixture
def before(former: Shape) -> Iterator[Database]:
    with closing(copied := Database(NAME, FORMER)):
        yield copied


@pytest.fixture
def after(upgraded: None) -> Iterator[Database]:
    with closing(copied := Database(NAME, UPGRADED)):
        yield copied


@pytest.fixture
def after_use(used: Found) -> Iterator[Database]:
    with closing(copied := Database(NAME, USED)):
        yield copied


@pytest.mark.django_db
def test_it_holds_what_a_new_database_holds(after: Database) -> None:
    with django_connection.cursor() as new, after.connection.cursor() as upgraded:
        assert differences(schema(upgraded), schema(new)) == set()


def test_operators_keep_their_rights_to_calls(used: Found, after_use: Database) -> None:
    [given] = used.right
    assert after_use.rows(RIGHT.format("view_call")) == [given]
    assert after_use.rows(RIGHT.format("view_reservation")) == []


def test_rights_to_calls_under_both_names_remain(before: Database) -> None:
    """The type of the new name is there already if one app was migrated alone."""
    before.connection.execute(RIGHT_UNDER_ITS_FORMER_NAME)
    before.manage("migrate", "accounts", "--verbosity=0")
    before.connection.execute(RIGHTS_UNDER_BOTH_NAMES)
    [former] = before.rows(TYPES_OF_CALLS.format("reservation"))
    before.manage("migrate", "--verbosity=0")
    assert before.rows(TYPES_OF_CALLS.format("call")) == [former]
    assert before.rows(TYPES_OF_CALLS.format("reservation")) == []
    assert before.rows(RIGHTS_OF_EACH) == [
        ("group", "former", "view_call"),
        ("group", "new", "change_call"),
        ("group", "new", "view_call"),
        ("person", "did:example:op", "view_call"),
    ]
    assert before.rows("SELECT content_type_id FROM django_admin_log") == [former]


def test_holds_that_were_never_sent_are_given_back(used: Found, after_use: Database) -> None:
    assert used.held == [({"alice": 300, "acme": 70}, 300, 70)]
    assert {state for _, state, _, _ in used.states} == {"reserved", "dispatched"}
    assert after_use.rows(STATES) == [
        ("of_acme", "released", "not_dispatched", False),
        ("sent", "dispatched", None, True),
        ("sent_of_acme", "dispatched", None, True),
        ("unsent", "released", "not_dispatched", False),
    ]
    assert after_use.rows(HELD) == [({"alice": 100, "acme": 20}, 0, 20)]
    assert "The ledger is sound" in after_use.manage("audit_ledger")


def test_calls_that_were_sent_are_closed_by_the_version_after(after_use: Database) -> None:
    closings = [
        {"action": "settle", "usage_id": "sent", "cost": 30, "basis": "upstream", "quantities": {"input_tokens": 200}},
        {"action": "release", "usage_id": "sent_of_acme", "resolution": "upstream_refused"},
    ]
    close = "SELECT answer->>'outcome' FROM billing_close_calls(%s, NULL, false)"
    outcomes = after_use.connection.execute(close, [Json(closings)]).fetchall()
    assert outcomes == [("settled",), ("released",)]
    assert after_use.rows(HELD) == [({"alice": 0, "acme": 0}, 0, 0)]
    assert "The ledger is sound" in after_use.manage("audit_ledger")


def test_processes_of_the_version_before_find_what_they_ask_for(former: Shape, after: Database) -> None:
    """Columns that they name, rows that they write without what they do not know, and functions."""
    gone = missed(former, Shape.read(after.connection))
    assert {name.partition("(")[0] for name in gone} == {  # which only functions called, or tests
        "billing_dispatch",
        "billing_reserve",
        "billing_unwind_budgets",
        "billing_unwind_lots",
        "inference_lock_owners",
        "inference_open_admitted",
    }


@pytest.mark.django_db
@pytest.mark.parametrize("app", ["accounts", "billing"])
def test_what_a_return_to_the_version_before_undid_can_be_done_again(after: Database, app: str) -> None:
    after.manage("migrate", app, "0001", "--verbosity=0")
    after.manage("migrate", "--verbosity=0")
    with django_connection.cursor() as new, after.connection.cursor() as upgraded:
        assert differences(schema(upgraded), schema(new)) == set()


@pytest.mark.django_db
def test_a_migration_that_was_cut_off_can_be_run_again(before: Database) -> None:
    before.connection.execute(CUT_OFF)
    assert "cut off" in before.run("migrate", "--verbosity=0").stderr
    before.connection.execute(LEFT_OVER)
    before.manage("migrate", "--verbosity=0")
    with django_connection.cursor() as new, before.connection.cursor() as upgraded:
        assert differences(schema(upgraded), schema(new)) == set()


@pytest.mark.django_db
def test_each_migration_is_recorded_in_its_transaction() -> None:
    """Django records one after its transaction that leaves statements to its end: killed between, it could not be run again."""
    loader = MigrationLoader(django_connection)
    state = ProjectState(real_apps=loader.unmigrated_apps)
    for key in dict.fromkeys(chain.from_iterable(map(loader.graph.forwards_plan, loader.graph.leaf_nodes()))):
        migration = loader.graph.nodes[key]
        if Path(apps.get_app_config(key[0]).path).parent != PROJECT_DIR or not migration.atomic:
            state = migration.mutate_state(state, preserve=False)
            continue
        editor: Any = django_connection.schema_editor(collect_sql=True, atomic=False)
        editor.deferred_sql = []
        state = migration.apply(state, editor, collect_sql=True)
        for operation in migration.operations:
            if not operation.reduces_to_sql:  # which it has left out
                operation.state_forwards(key[0], state)
        assert editor.deferred_sql == [], f"{key} is to be a RestartableMigration"
    assert fields_of(state) == fields_of(loader.project_state())


def fields_of(state: ProjectState) -> dict[Any, set[str]]:
    return {key: set(model.fields) for key, model in state.models.items()}


def test_a_database_that_stopped_between_two_versions_is_refused(before: Database) -> None:
    some = "INSERT INTO django_migrations (app, name, applied) SELECT 'judgement', '0002_help_texts', now()"
    before.connection.execute(some)
    for command in ("migrate", "prepare"):
        assert "The database is between two versions (migrations of judgement). Migrate it" in before.refusal(command)
    assert before.rows("SELECT to_regclass('accounts_consent')") == [(None,)]
