"""What processes of the version before need of the tables and functions that a new version has changed.

They name the columns that they know, leave out those that they do not know, and call functions by name and parameters.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

COLUMNS = """
SELECT c.relname, a.attname, format_type(a.atttypid, a.atttypmod), a.attnotnull AND NOT a.atthasdef AND a.attidentity = ''
  FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid
 WHERE c.relnamespace = 'public'::regnamespace AND c.relkind IN ('r', 'p') AND a.attnum > 0 AND NOT a.attisdropped
"""
FUNCTIONS = """
SELECT p.oid::regprocedure || ' ' || pg_get_function_result(p.oid) FROM pg_proc p
 WHERE p.pronamespace = 'public'::regnamespace AND p.prorettype <> 'trigger'::regtype
"""

NAME = re.compile(r"\b[a-z]+_[a-z_0-9]+\b")
NOT_SERVING = (".venv", "tests", "bench", "clients", "docs")


@dataclass(frozen=True, slots=True)
class Shape:
    """The columns of each table with their types, those without which no row can be written, and the functions."""

    columns: Mapping[tuple[str, str], str]
    required: frozenset[tuple[str, str]]
    functions: frozenset[str]

    @classmethod
    def read(cls, connection: Any) -> "Shape":
        """Read them from a database."""
        columns = connection.execute(COLUMNS).fetchall()
        return cls(
            {(table, name): kind for table, name, kind, _ in columns},
            frozenset((table, name) for table, name, _, is_required in columns if is_required),
            frozenset(function for (function,) in connection.execute(FUNCTIONS).fetchall()),
        )

    @property
    def tables(self) -> set[str]:
        """Return the names of the tables."""
        return {table for table, _ in self.columns}


def called(source: Path) -> set[str]:
    """Return the names in a version's Python code, among them those of the functions that it calls. Others are called by functions
    alone, which are replaced together."""
    files = (path for path in source.rglob("*.py") if path.relative_to(source).parts[0] not in NOT_SERVING)
    return {name for path in files for name in NAME.findall(path.read_text(encoding="utf-8"))}


def missed(before: Shape, after: Shape, calls: set[str] | None = None) -> set[str]:
    """Return what processes of the version before miss in the new shape, each as a few words. Of functions only those that they call, if
    it is given which."""
    gone = {f"{table}.{name} is gone" for table, name in set(before.columns) - set(after.columns)}
    changed = {
        f"{table}.{name} was {kind}"
        for (table, name), kind in before.columns.items()
        if after.columns.get((table, name), kind) != kind
    }
    required = {
        f"{table}.{name} is required and has no default"
        for table, name in after.required - before.required
        if table in before.tables
    }
    lost = {each for each in before.functions - after.functions if calls is None or each.partition("(")[0] in calls}
    return gone | changed | required | {f"{each} is gone" for each in lost}
