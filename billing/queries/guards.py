"""The guards of the ledger that `billing/sql` and the models declare; the audit compares them with the database."""

import re
from functools import cache
from importlib.resources import files
from typing import Any

from django.apps import apps
from django.db.models import UniqueConstraint

_FUNCTION = re.compile(r"CREATE OR REPLACE FUNCTION (\w+)")
_TRIGGER = re.compile(
    r"CREATE OR REPLACE TRIGGER (\w+)\s+((?:BEFORE|AFTER) .+?)\s+ON (\w+)\s+(?:REFERENCING OLD TABLE AS \w+ )?"
    r"FOR EACH (ROW|STATEMENT) EXECUTE FUNCTION (\w+)",
    re.DOTALL,
)
# Bits of pg_trigger.tgtype.
_ROW, _BEFORE = 1, 2
_EVENTS = {"INSERT": 4, "DELETE": 8, "UPDATE": 16, "TRUNCATE": 32}


@cache
def expected() -> dict[str, Any]:
    """Return the parameters of the audit of guards: triggers, functions with their sources, unique indexes."""
    sources = "\n".join(_sources())
    names, events, tables, levels, functions = zip(*_TRIGGER.findall(sources), strict=True)
    return {
        "sources": sources,
        "functions": sorted(set(_FUNCTION.findall(sources))),
        "unique_indexes": sorted(_unique_indexes()),
        "triggers": list(names),
        "trigger_tables": list(tables),
        "trigger_functions": list(functions),
        "trigger_types": [_type(*declared) for declared in zip(events, levels, strict=True)],
        "trigger_columns": [_columns(declared) for declared in events],
    }


def _sources() -> list[str]:
    folder = files("billing").joinpath("sql")
    return [entry.read_text(encoding="utf-8") for entry in folder.iterdir() if entry.name.endswith(".sql")]


def _unique_indexes() -> set[str]:
    tables = [model._meta for model in apps.get_app_config("billing").get_models()]  # noqa: SLF001 (documented)
    return {rule.name for table in tables for rule in table.constraints if isinstance(rule, UniqueConstraint)}


def _type(events: str, level: str) -> int:
    fired = sum(bit for event, bit in _EVENTS.items() if re.search(rf"\b{event}\b", events))
    return fired + (_BEFORE if events.startswith("BEFORE") else 0) + (_ROW if level == "ROW" else 0)


def _columns(events: str) -> int:
    _, _, columns = events.partition(" OF ")
    return len(columns.split(",")) if columns else 0
