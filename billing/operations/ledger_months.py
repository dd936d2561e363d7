"""Move old calls into monthly tables while new calls continue. Not on the hot path.

The database keeps the money safe (`billing/sql/months.sql`): each batch is one transaction, triggers check what it
moves, and a call is in exactly one place at any time. This module only requests the next batch.
"""

import json
import logging
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import date, datetime

from django.db import OperationalError, connection, transaction
from psycopg.errors import LockNotAvailable, QueryCanceled

from billing.operations.statement import call

log = logging.getLogger("billing.ledger_months")

BATCH_MAX, BATCH_MIN = 1000, 50
BATCH_SECONDS = 0.2
"""The target duration of a transaction. A call waits for one only if it repeats a key whose first call is being
moved."""

ATTEMPTS, PAUSE_SECONDS = 10, 1.0
_LIMITS = "SET LOCAL lock_timeout = '500ms'; SET LOCAL statement_timeout = '10s'"
# No reader or writer waits behind this lock; an automatic vacuum yields to it after a second.
_LIMITS_OF_TABLES = "SET LOCAL lock_timeout = '10s'"
_TABLES = "SELECT name FROM billing_month_tables() WHERE to_regclass(name) IS NOT NULL ORDER BY name"


class LedgerBusy(Exception):
    """A batch repeatedly met a locked table or took too long."""


@dataclass(frozen=True, slots=True)
class Batch:
    """The outcome for some calls of a month, in the order of their ids.

    `calls` counts the moved calls, `rows` also their related rows (0 in a preview); `staying` counts the others by
    reason.
    """

    last_id: str | None
    looked_at: int
    calls: int
    rows: int
    staying: Counter[str] = field(default_factory=Counter)


def add_tables(month: date) -> bool:
    """Create the tables of a month, given by its first day, if they do not exist; return whether they were created.

    Raises LedgerBusy if a migration or a vacuum has locked the hot tables.
    """
    try:
        with transaction.atomic():
            _execute(_LIMITS_OF_TABLES)
            return bool(call("billing_add_month", lambda row: row[0], month=month).run())
    except OperationalError as error:
        if not _is_busy(error):
            raise
        raise LedgerBusy(str(error).strip()) from error


def move(month: date, *, before: datetime) -> Iterator[Batch]:
    """Move the calls of a month that closed `before` and can no longer change, batch by batch.

    The tables must exist. Raises LedgerBusy; what was moved by then stays moved, and the next run continues.
    """
    return _batches(month, before, is_trial=False)


def preview(month: date, *, before: datetime) -> Iterator[Batch]:
    """Report what `move` would do, without doing it."""
    return _batches(month, before, is_trial=True)


def analyze() -> None:
    """Update the planner's statistics of the hot tables and their monthly tables together, which autovacuum does not
    do."""
    _execute("ANALYZE billing_reservation, billing_usage_record, billing_transfer")


def tend() -> int:
    """Repair the indexes and triggers of the monthly tables to match the hot tables; return how many differed."""
    with connection.cursor() as cursor:
        cursor.execute(_TABLES)
        names = [name for (name,) in cursor.fetchall()]
    return sum(call("billing_tend_month_table", lambda row: int(row[0]), name=name).run() for name in names)


def _batches(month: date, before: datetime, *, is_trial: bool) -> Iterator[Batch]:
    after, size, failures = "", BATCH_MAX, 0
    while True:
        begun = time.monotonic()
        try:
            batch = _batch(month, before, after, size, is_trial)
        except OperationalError as error:
            failures += 1
            if not _is_busy(error):
                raise
            if failures == ATTEMPTS:
                raise LedgerBusy(str(error).strip()) from error
            log.warning("a batch of %d calls is tried again: %s", size, error)
            size = max(BATCH_MIN, size // 2)
            time.sleep(PAUSE_SECONDS)
            continue
        if batch.last_id is None:
            return
        yield batch
        after, failures = batch.last_id, 0
        size = _next_size(size, time.monotonic() - begun)


@transaction.atomic
def _batch(month: date, before: datetime, after: str, size: int, is_trial: bool) -> Batch:
    _execute(_LIMITS)
    statement = call(
        "billing_move_calls", _read_batch, month=month, before=before, after=after, limit=size, is_trial=is_trial
    )
    return statement.run()


def _read_batch(row: tuple[str | None, int, int, int | None, str]) -> Batch:
    last_id, looked_at, calls, rows, staying = row
    return Batch(last_id, looked_at, calls, rows or 0, Counter(json.loads(staying)))


def _next_size(size: int, seconds: float) -> int:
    """Return the size of the next batch, so that it takes about BATCH_SECONDS."""
    return max(BATCH_MIN, min(BATCH_MAX, 2 * size, int(size * BATCH_SECONDS / max(seconds, 0.001))))


def _is_busy(error: OperationalError) -> bool:
    """Return whether a lock timeout or statement timeout expired."""
    return isinstance(error.__cause__, LockNotAvailable | QueryCanceled)


def _execute(statement: str) -> None:
    with connection.cursor() as cursor:
        cursor.execute(statement)
