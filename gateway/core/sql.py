"""Installs what the apps keep in their `sql/` folders: functions, views and triggers, after every migrate.

So the database holds what the files say, however it came here, and migrations are about tables alone. A function whose
parameters or result change gets another name: processes of the version before go on with the old one. What nobody asks
for any more is dropped by a migration; what only other functions called is dropped where they are replaced, in the same
transaction.
"""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from django.apps import apps
from django.db import connections, transaction
from django.db.migrations.executor import MigrationExecutor

LOCK_KEY = 0x67617465776173
"""Two that install the same function at once would get in each other's way; "gatewas" in ASCII."""

_TRIGGER = re.compile(r"CREATE OR REPLACE TRIGGER .+?;", re.DOTALL)
_NAMES = re.compile(r"TRIGGER (\w+)\s.+\sON (\w+)\s.+\sFUNCTION (\w+)\(", re.DOTALL)
_TRIGGERS = """
SELECT t.tgname, t.tgrelid::regclass::text, p.proname, pg_get_triggerdef(t.oid, true), t.tgenabled IN ('O', 'A')
  FROM pg_trigger t JOIN pg_proc p ON p.oid = t.tgfoid WHERE NOT t.tgisinternal
"""


def after_migrate(*, using: str, plan: Any = None, **signal: Any) -> bool:
    """Install everything, unless migrations are still to come; emptying a database (`flush`) has no plan. Return whether
    it was done."""
    if plan is None:
        return False
    executor = MigrationExecutor(connections[using])
    if executor.migration_plan(executor.loader.graph.leaf_nodes()):
        return False
    install(using)
    return True


def install(using: str) -> None:
    """Replace functions and views in one transaction, then make the triggers that differ, each in one of its own.

    Creating a trigger waits for all writers to its table, and they wait for it. Therefore only triggers that differ are
    created, and never on two tables at once. Triggers that no file names are dropped last, so that no table is
    unguarded in between.
    """
    with transaction.atomic(using), connections[using].cursor() as cursor:
        cursor.execute("SELECT pg_advisory_xact_lock(%s)", [LOCK_KEY])
        for text in sources():
            cursor.execute(_TRIGGER.sub("", text))
    with connections[using].cursor() as cursor:
        for statement in _changes(cursor):
            cursor.execute(statement)


def sources() -> Iterator[str]:
    """Return the text of every app's `sql/*.sql`, in the order of the apps and then of the names."""
    for app in apps.get_app_configs():
        for path in sorted(Path(app.path, "sql").glob("*.sql")):
            yield path.read_text(encoding="utf-8")


def _changes(cursor: Any) -> Iterator[str]:
    """Return the statements that make triggers what the files say: the missing, disabled and other ones, then the
    rest."""
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
