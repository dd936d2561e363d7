"""Checks the ledger's invariants and reports violations.

Each file of `billing/sql/audit` is one invariant: a query that returns a row (subject, detail) for each violation. Each
query uses one snapshot of its own, so calls in progress do not affect it. Checks of single rows are limited to what closed
since `%(since)s`; sums always include everything.

No snapshot may last long. While one does, PostgreSQL keeps every version of every row that has been updated since, and a call
looks through all versions of its wallet's row. So a query that reads every call does so in slices: those with ids from
`%(first)s` to before `%(last)s`, which is null for the last slice.
"""

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from importlib.resources import files
from itertools import islice
from typing import Any

from django.conf import settings
from django.db import connection
from django.db.backends.utils import CursorWrapper

from billing.queries import guards
from billing.queries.snapshots import one_snapshot

FINDINGS_MAX = 100
SLICE_CALLS = 50_000
"""Calls of a slice, which takes a second or two."""
_PERCENT = re.compile(r"%(?!\(\w+\)s)")
_VIEW = re.compile(r"CREATE OR REPLACE VIEW (\w+) AS\n(.+?);", re.DOTALL)

# Joins of a million calls run in memory, and in as many processes as the server grants.
_ROOM = "SET LOCAL work_mem = '128MB'; SET LOCAL max_parallel_workers_per_gather = 2; SET LOCAL jit = off"
_SLICE_END = "SELECT id FROM billing_reservation WHERE id > %s ORDER BY id OFFSET %s LIMIT 1"


Slice = tuple[str, str | None]


@dataclass(frozen=True, slots=True)
class Finding:
    """A row that violates an invariant."""

    invariant: str
    subject: str
    detail: str

    def __str__(self) -> str:
        return f"{self.invariant}: {self.subject}: {self.detail}"


def findings(*, since: datetime | None = None) -> list[Finding]:
    """Check every invariant; return at most 100 findings of each, none if the ledger is sound.

    With `since`, calls that closed earlier and seals that end earlier are not checked again; balances always are.
    """
    parameters = {
        "since": since or "-infinity",
        "review_hours": settings.REVIEW_RELEASE_HOURS,
        **guards.expected(),
    }
    slices = _slices if since is None else _one_slice
    return [finding for name in invariants() for finding in islice(_check(name, slices, parameters), FINDINGS_MAX)]


def _check(invariant: str, slices: Callable[[], Iterable[Slice]], parameters: dict[str, Any]) -> Iterator[Finding]:
    for first, last in slices() if "%(first)s" in invariants()[invariant] else _one_slice():
        with one_snapshot(), connection.cursor() as cursor:
            cursor.execute(_ROOM)
            found = _query(cursor, invariant, {**parameters, "first": first, "last": last})
        yield from found


def _query(cursor: CursorWrapper, invariant: str, parameters: dict[str, Any]) -> list[Finding]:
    cursor.execute(invariants()[invariant], parameters)
    return [Finding(invariant, *row) for row in cursor.fetchmany(FINDINGS_MAX)]


def _one_slice() -> Iterable[Slice]:
    """Return the slice of all ids."""
    return [("", None)]


def _slices() -> Iterator[Slice]:
    """Yield slices that together have all ids, also those that no call has."""
    first: str | None = ""
    while first is not None:
        with connection.cursor() as cursor:
            cursor.execute(_SLICE_END, [first, SLICE_CALLS])
            row = cursor.fetchone()
        last = row[0] if row else None
        yield first, last
        first = last


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
