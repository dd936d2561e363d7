"""Installs the functions, views and triggers of the apps' `sql/` folders after every migrate.

The database therefore always matches the files, and migrations only change tables. A function whose parameters or
result change gets a new name, because processes of the previous version still call the old one. A migration drops
functions that no process calls any more; functions that only other functions called are dropped in the transaction that
replaces their callers.
"""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from django.apps import apps
from django.db import connections, transaction
from django.db.migrations.executor import MigrationExecutor

LOCK_KEY = 0x67617465776173
"""The lock against concurrent installations of the same function; "gatewas" in ASCII."""

_FUNCTION = re.compile(r"CREATE OR REPLACE FUNCTION (\w+)\(.*?\bAS \$\$(.*?)\$\$", re.DOTALL)
_VIEW = re.compile(r"CREATE OR REPLACE VIEW (\w+) ")
_TRIGGER = re.compile(r"CREATE OR REPLACE TRIGGER .+?;", re.DOTALL)
_NAMES = re.compile(r"TRIGGER (\w+)\s.+\sON (\w+)\s.+\sFUNCTION (\w+)\(", re.DOTALL)
_TRIGGERS = """
SELECT t.tgname, t.tgrelid::regclass::text, p.proname, pg_get_triggerdef(t.oid, true), t.tgenabled IN ('O', 'A')
  FROM pg_trigger t JOIN pg_proc p ON p.oid = t.tgfoid WHERE NOT t.tgisinternal
"""


def after_migrate(*, using: str, plan: Any = None, **signal: Any) -> bool:
    """Install everything, unless migrations are still to come (`flush`, which empties a database, has no plan). Return
    whether it was installed."""
    if not is_complete(using=using, plan=plan):
        return False
    install(using)
    return True


def is_complete(*, using: str, plan: Any = None, **signal: Any) -> bool:
    """Return whether a `migrate` has ended after which no migration is to come. `flush` is none."""
    if plan is None:
        return False
    executor = MigrationExecutor(connections[using])
    return not executor.migration_plan(executor.loader.graph.leaf_nodes())


def install(using: str) -> None:
    """Replace functions and views in one transaction, then create the triggers that differ, each in its own.

    Creating a trigger waits for all writers to its table, and blocks new ones meanwhile. Therefore only triggers that
    differ are created, and never on two tables at once. Triggers that no file defines are dropped last, so that no
    table is unguarded in between.
    """
    with transaction.atomic(using), connections[using].cursor() as cursor:
        cursor.execute("SELECT pg_advisory_xact_lock(%s)", [LOCK_KEY])
        for text in sources():
            cursor.execute(_TRIGGER.sub("", text))
    with connections[using].cursor() as cursor:
        for statement in _changes(cursor):
            cursor.execute(statement)


def differences(using: str) -> list[str]:
    """Return the names of functions, views and triggers that `install` would create or replace; only reads. Of a view, only
    the absence is noticed."""
    text = "\n".join(sources())
    with connections[using].cursor() as cursor:
        cursor.execute("SELECT proname, prosrc FROM pg_proc WHERE pronamespace = current_schema()::regnamespace")
        functions = set(cursor.fetchall())
        cursor.execute("SELECT viewname FROM pg_views WHERE schemaname = current_schema()")
        views = {name for (name,) in cursor.fetchall()}
        triggers = [statement.split()[4] for statement in _changes(cursor) if statement.startswith("CREATE")]
    missing = [name for name, body in _FUNCTION.findall(text) if (name, body) not in functions]
    return sorted({*missing, *(name for name in _VIEW.findall(text) if name not in views), *triggers})


def sources() -> Iterator[str]:
    """Return the text of every app's `sql/*.sql`, in the order of the apps, then of the file names."""
    for app in apps.get_app_configs():
        for path in sorted(Path(app.path, "sql").glob("*.sql")):
            yield path.read_text(encoding="utf-8")


def _changes(cursor: Any) -> Iterator[str]:
    """Return the statements that make the triggers match the files: first create the missing, disabled and different
    ones, then drop the rest."""
    cursor.execute(_TRIGGERS)
    found = cursor.fetchall()
    in_force = {_plain(definition) for *_, definition, is_enabled in found if is_enabled}
    declared = [trigger for text in sources() for trigger in _TRIGGER.findall(text)]
    yield from (trigger for trigger in declared if _plain(trigger) not in in_force)
    names = {tuple(_NAMES.search(trigger).groups()) for trigger in declared}  # type: ignore[union-attr]
    functions = {function for _, _, function in names}
    for name, table, function, *_ in found:
        if function in functions and (name, table, function) not in names:
            yield f"DROP TRIGGER {name} ON {table}"


def _plain(trigger: str) -> str:
    return " ".join(trigger.replace("CREATE OR REPLACE", "CREATE").rstrip(";").split())
