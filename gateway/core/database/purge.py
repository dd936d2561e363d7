"""Deletes or blanks expired rows in small batches, without blocking other transactions."""

import logging
import time
from collections.abc import Callable
from typing import Any

from django.db import OperationalError, connections, transaction
from django.db.models import QuerySet
from psycopg.errors import LockNotAvailable, QueryCanceled

log = logging.getLogger("gateway.purge")

BATCH = 1000
RUN_SECONDS = 20.0
Action = Callable[[QuerySet[Any]], object]
_LIMITS = "SET LOCAL lock_timeout = '500ms'; SET LOCAL statement_timeout = '10s'"


def purge(rows: QuerySet[Any], *, batch: int = BATCH) -> int:
    """Delete these rows, at most `batch` in a transaction, in the queryset's order, which an index must support; return their
    number.

    Locked rows are skipped, including those of a concurrent run. Rows that remain after RUN_SECONDS, or because a table is
    locked, are left to the next run.
    """
    return _in_batches(rows, batch, _delete)


def purge_once(rows: QuerySet[Any]) -> int:
    """Delete these rows like `purge`, but in one transaction, so at most BATCH of them."""
    return _try_batch(rows, BATCH, _delete)


def blank(rows: QuerySet[Any], column: str) -> int:
    """Set a column of these rows to null if it is not, in batches like `purge`; return how many were set."""
    return _in_batches(rows.filter(**{f"{column}__isnull": False}), BATCH, lambda found: found.update(**{column: None}))


def oldest_of(rows: QuerySet[Any]) -> QuerySet[Any]:
    """Limit rows to those among the lowest ids of their table. For a table without an index on its date, whose ids are in the
    order of the date."""
    lowest = rows.model._default_manager.order_by("pk").values("pk")[:BATCH]  # noqa: SLF001 (documented)
    return rows.filter(pk__in=lowest).order_by("pk")


def _in_batches(rows: QuerySet[Any], batch: int, action: Action) -> int:
    until = time.monotonic() + RUN_SECONDS
    count = 0
    while True:
        found = _try_batch(rows, batch, action)
        count += found
        if found < batch or time.monotonic() >= until:
            return count


def _try_batch(rows: QuerySet[Any], batch: int, action: Action) -> int:
    try:
        with transaction.atomic(using=rows.db):
            return _process_batch(rows, batch, action)
    except OperationalError as error:
        if not isinstance(error.__cause__, LockNotAvailable | QueryCanceled):
            raise
        log.warning("%s could not be purged; the next run retries: %s", rows.model.__name__, error)
        return 0


def _delete(found: QuerySet[Any]) -> None:
    found.delete()


def _process_batch(rows: QuerySet[Any], batch: int, action: Action) -> int:
    with connections[rows.db].cursor() as cursor:
        cursor.execute(_LIMITS)
    free = rows.select_for_update(skip_locked=True, of=("self",))
    found = list(free.values_list("pk", flat=True)[:batch])
    action(rows.model._default_manager.filter(pk__in=found))  # noqa: SLF001 (documented)
    return len(found)
