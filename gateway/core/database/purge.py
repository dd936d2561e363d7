"""Deletes or blanks rows whose time is over, without getting in anybody's way."""

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
    """Delete these rows, at most `batch` in a transaction, in the queryset's order, which an index must give; return how
    many.

    Rows that are locked are skipped, also by a second run at the same time. What remains after RUN_SECONDS, or because
    a table is locked, is left to the next run.
    """
    return _in_batches(rows, batch, lambda found: found.delete())


def blank(rows: QuerySet[Any], column: str) -> int:
    """Set a column of these rows to null, as `purge` deletes rows; return how many. The rows are those in which it is
    not null."""
    return _in_batches(rows.filter(**{f"{column}__isnull": False}), BATCH, lambda found: found.update(**{column: None}))


def oldest_of(rows: QuerySet[Any]) -> QuerySet[Any]:
    """Limit rows to those among the lowest ids of their table: for one that has no index on its date, where ids follow
    it."""
    lowest = rows.model._default_manager.order_by("pk").values("pk")[:BATCH]  # noqa: SLF001 (documented)
    return rows.filter(pk__in=lowest).order_by("pk")


def _in_batches(rows: QuerySet[Any], batch: int, end_them: Action) -> int:
    until = time.monotonic() + RUN_SECONDS
    ended = 0
    while True:
        found = _end_some(rows, batch, end_them)
        ended += found
        if found < batch or time.monotonic() >= until:
            return ended


def _end_some(rows: QuerySet[Any], batch: int, end_them: Action) -> int:
    try:
        with transaction.atomic(using=rows.db):
            return _end_batch(rows, batch, end_them)
    except OperationalError as error:
        if not isinstance(error.__cause__, LockNotAvailable | QueryCanceled):
            raise
        log.warning("%s is busy, and purged later: %s", rows.model.__name__, error)
        return 0


def _end_batch(rows: QuerySet[Any], batch: int, end_them: Action) -> int:
    with connections[rows.db].cursor() as cursor:
        cursor.execute(_LIMITS)
    free = rows.select_for_update(skip_locked=True, of=("self",))
    found = list(free.values_list("pk", flat=True)[:batch])
    end_them(rows.model._default_manager.filter(pk__in=found))  # noqa: SLF001 (documented)
    return len(found)
