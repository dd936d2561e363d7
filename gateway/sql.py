"""Installs what the apps keep in their `sql/` folders: functions, views and triggers, after every migrate.

So the database holds what the files say, however it came here, and migrations are about tables alone. A function that is
gone, or whose parameters or result are others now, is dropped by a migration: to PostgreSQL it is another function.
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
_TRIGGERS_IN_FORCE = "SELECT pg_get_triggerdef(oid, true) FROM pg_trigger WHERE NOT tgisinternal AND tgenabled = 'O'"


def after_migrate(*, using: str, plan: Any = None, **signal: Any) -> None:
    """Install everything, unless migrations are still to come; emptying a database (`flush`) has no plan."""
    if plan is None:
        return
    executor = MigrationExecutor(connections[using])
    if not executor.migration_plan(executor.loader.graph.leaf_nodes()):
        install(using)


def install(using: str) -> None:
    """Replace functions and views in one transaction, then make the triggers that differ, each in one of its own.

    Making a trigger waits for everybody who writes to its table, and they for it: hence only those that differ, and
    never two tables at once.
    """
    with transaction.atomic(using), connections[using].cursor() as cursor:
        cursor.execute("SELECT pg_advisory_xact_lock(%s)", [LOCK_KEY])
        for text in sources():
            cursor.execute(_TRIGGER.sub("", text))
    with connections[using].cursor() as cursor:
        for trigger in _missing_triggers(cursor):
            cursor.execute(trigger)


def sources() -> Iterator[str]:
    """Return the text of every app's `sql/*.sql`, in the order of the apps and then of the names."""
    for app in apps.get_app_configs():
        for path in sorted(Path(app.path, "sql").glob("*.sql")):
            yield path.read_text(encoding="utf-8")


def _missing_triggers(cursor: Any) -> list[str]:
    """Return the statements of triggers that are not there, disabled or another, as PostgreSQL would write them."""
    cursor.execute(_TRIGGERS_IN_FORCE)
    in_force = {_plain(definition) for (definition,) in cursor.fetchall()}
    return [trigger for text in sources() for trigger in _TRIGGER.findall(text) if _plain(trigger) not in in_force]


def _plain(trigger: str) -> str:
    return " ".join(trigger.replace("CREATE OR REPLACE", "CREATE").rstrip(";").split())
