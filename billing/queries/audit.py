"""Proves the ledger's invariants, or names what breaks them.

Each file of `billing/sql/audit` is one invariant: a query that gives a row (subject, detail) for whatever breaks it. All
run against one snapshot, so calls under way do not disturb them.
"""

from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from django.conf import settings
from django.db import connection, transaction
from django.db.backends.utils import CursorWrapper

FINDINGS_MAX = 100


@dataclass(frozen=True, slots=True)
class Finding:
    """One row that breaks an invariant."""

    invariant: str
    subject: str
    detail: str

    def __str__(self) -> str:
        return f"{self.invariant}: {self.subject}: {self.detail}"


def findings() -> list[Finding]:
    """Check every invariant at one snapshot; give at most 100 findings of each, none where the ledger is sound."""
    alone = not connection.in_atomic_block
    with transaction.atomic(), connection.cursor() as cursor:
        if alone:  # else the caller's transaction has its own view already
            cursor.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY")
        return [finding for name in invariants() for finding in _check(cursor, name)]


def _check(cursor: CursorWrapper, invariant: str) -> list[Finding]:
    cursor.execute(invariants()[invariant], {"review_hours": settings.REVIEW_RELEASE_HOURS})
    return [Finding(invariant, *row) for row in cursor.fetchmany(FINDINGS_MAX)]


@cache
def invariants() -> dict[str, str]:
    """Give every invariant's name and query."""
    folder = files("billing").joinpath("sql", "audit")
    texts = sorted((entry.name.removesuffix(".sql"), entry.read_text(encoding="utf-8")) for entry in folder.iterdir())
    return {name: text.replace("%", "%%").replace("%%(review_hours)s", "%(review_hours)s") for name, text in texts}
