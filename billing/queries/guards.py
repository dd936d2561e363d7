"""The guards of the ledger that `billing/sql` and the models declare; the audit compares them with the database."""

import re
from collections.abc import Iterator
from functools import cache
from importlib.resources import files
from typing import Any, TypeVar

from django.apps import apps
from django.db.models import CheckConstraint, Model, UniqueConstraint

from gateway.core.django_internals import condition_of

_FUNCTION = re.compile(r"CREATE OR REPLACE FUNCTION (\w+)\((.*?)\bAS \$\$(.*?)\$\$", re.DOTALL)
_LANGUAGE = re.compile(r"\bLANGUAGE (\w+)")
_SETTING = re.compile(r"\bSET (\w+) = ([\w, ]+?)\s*$")
_TRIGGER = re.compile(
    r"CREATE OR REPLACE TRIGGER (\w+)\s+((?:BEFORE|AFTER) .+?)\s+ON (\w+)\s+(?:REFERENCING OLD TABLE AS \w+ )?"
    r"FOR EACH (ROW|STATEMENT) EXECUTE FUNCTION (\w+)",
    re.DOTALL,
)
Rule = TypeVar("Rule", CheckConstraint, UniqueConstraint)

# Bits of pg_trigger.tgtype.
_ROW, _BEFORE = 1, 2
_EVENTS = {"INSERT": 4, "DELETE": 8, "UPDATE": 16, "TRUNCATE": 32}


@cache
def expected() -> dict[str, Any]:
    """Return the parameters of the audit of guards: triggers, functions with their sources, unique indexes, checks."""
    return {
        **_functions(),
        **_triggers(),
        **_unique_indexes(),
        "checks": [rule.name for _, rule in _rules(CheckConstraint)],
    }


def _functions() -> dict[str, Any]:
    names, heads, bodies = zip(*_FUNCTION.findall(_source()), strict=True)
    return {
        "functions": list(names),
        "function_bodies": list(bodies),
        "function_languages": [_LANGUAGE.findall(head)[-1] for head in heads],
        "function_settings": [_setting(head) for head in heads],
    }


def _setting(head: str) -> str:
    found = _SETTING.search(head)
    return f"{found[1]}={found[2]}" if found else ""


def _triggers() -> dict[str, Any]:
    names, events, tables, levels, functions = zip(*_TRIGGER.findall(_source()), strict=True)
    return {
        "triggers": list(names),
        "trigger_tables": list(tables),
        "trigger_functions": list(functions),
        "trigger_types": [_type(*declared) for declared in zip(events, levels, strict=True)],
        "trigger_columns": [_columns(declared) for declared in events],
    }


@cache
def _source() -> str:
    folder = files("billing").joinpath("sql")
    return "\n".join(entry.read_text(encoding="utf-8") for entry in folder.iterdir() if entry.name.endswith(".sql"))


def _unique_indexes() -> dict[str, Any]:
    rules = list(_rules(UniqueConstraint))
    return {
        "unique_indexes": [rule.name for _, rule in rules],
        "unique_tables": [model._meta.db_table for model, _ in rules],  # noqa: SLF001 (documented)
        "unique_columns": [_columns_of(model, rule) for model, rule in rules],
        "unique_conditions": [_condition_of(model, rule) for model, rule in rules],
        "unique_with_nulls": [rule.nulls_distinct is False for _, rule in rules],
    }


def _rules(kind: type[Rule]) -> Iterator[tuple[type[Model], Rule]]:
    for model in apps.get_app_config("billing").get_models():
        for rule in model._meta.constraints:  # noqa: SLF001 (documented)
            if isinstance(rule, kind):
                yield model, rule


def _columns_of(model: type[Model], rule: UniqueConstraint) -> str:
    columns = {field.name: field.column for field in model._meta.fields}  # noqa: SLF001 (documented)
    return ",".join(str(columns[name]) for name in rule.fields)


def _condition_of(model: type[Model], rule: UniqueConstraint) -> str:
    """Return the condition of a partial index without spaces, quotes and parentheses; empty if it has none."""
    return re.sub(r'[() "]', "", condition_of(rule, model))


def _type(events: str, level: str) -> int:
    fired = sum(bit for event, bit in _EVENTS.items() if re.search(rf"\b{event}\b", events))
    return fired + (_BEFORE if events.startswith("BEFORE") else 0) + (_ROW if level == "ROW" else 0)


def _columns(events: str) -> str:
    """Return the columns of UPDATE OF in the order of their names; empty if there are none."""
    found = re.search(r" OF ([\w,\s]+?)(?: OR |$)", events)
    return ",".join(sorted(re.findall(r"\w+", found[1]))) if found else ""
