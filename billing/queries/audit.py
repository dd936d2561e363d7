"""Checks the ledger's invariants and reports violations.

Each file of `billing/sql/audit` is one invariant: a query that returns a row (subject, detail) for each violation. All
queries use one snapshot, so calls in progress do not affect them. Checks of single rows are limited to what closed
since `%(since)s`; sums always include everything.
"""

import re
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from importlib.resources import files
from typing import Any

from django.conf import settings
from django.db import connection
from django.db.backends.utils import CursorWrapper

from billing.queries import guards
from billing.queries.snapshots import one_snapshot

FINDINGS_MAX = 100
_PERCENT = re.compile(r"%(?!\(\w+\)s)")
_VIEW = re.compile(r"CREATE OR REPLACE VIEW (\w+) AS\n(.+?);", re.DOTALL)

# Joins of a million calls run in memory, and in as many processes as the server grants.
_ROOM = ("SET LOCAL work_mem = '128MB'", "SET LOCAL max_parallel_workers_per_gather = 2", "SET LOCAL jit = off")


@dataclass(frozen=True, slots=True)
class Finding:
    """A row that violates an invariant."""

    invariant: str
    subject: str
    detail: str

    def __str__(self) -> str:
        return f"{self.invariant}: {self.subject}: {self.detail}"


def findings(*, since: datetime | None = None) -> list[Finding]:
    """Check every invariant at one snapshot; return at most 100 findings of each, none if the ledger is sound.

    With `since`, calls that closed earlier and seals that end earlier are not checked again; balances always are.
    """
    parameters = {
        "since": since or "-infinity",
        "review_hours": settings.REVIEW_RELEASE_HOURS,
        **guards.expected(),
    }
    with one_snapshot(), connection.cursor() as cursor:
        for setting in _ROOM:
            cursor.execute(setting)
        return [finding for name in invariants() for finding in _check(cursor, name, parameters)]


def _check(cursor: CursorWrapper, invariant: str, parameters: dict[str, Any]) -> list[Finding]:
    cursor.execute(invariants()[invariant], parameters)
    return [Finding(invariant, *row) for row in cursor.fetchmany(FINDINGS_MAX)]


@cache
def invariants() -> dict[str, str]:
    """Return every invariant's name and query."""
    folder = files("billing").joinpath("sql", "audit")
    texts = sorted((entry.name.removesuffix(".sql"), entry.read_text(encoding="utf-8")) for entry in folder.iterdir())
    return {name: _PERCENT.sub("%%", _defining_views(text)) for name, text in texts}


def _defining_views(text: str) -> str:
    """Prefix a query that reads the views of what is sealed with their definitions, as those in the database may be forged."""
    views = _VIEW.findall(files("billing").joinpath("sql", "seals.sql").read_text(encoding="utf-8"))
    if not any(name in text for name, _ in views):
        return text
    return text.replace("WITH ", "WITH " + "".join(f"{name} AS ({body}),\n" for name, body in views), 1)
