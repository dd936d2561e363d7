"""Deletes rows whose time is over, without getting in anybody's way."""

import logging
import time
from typing import Any

from django.db import OperationalError, connections, transaction
from django.db.models import QuerySet
from psycopg.errors import LockNotAvailable, QueryCanceled

log = logging.getLogger("gateway.purge")

BATCH = 1000
RUN_SECONDS = 20.0
_LIMITS = "SET LOCAL lock_timeout = '500ms'; SET LOCAL statement_timeout = '10s'"


def purge(rows: QuerySet[Any], *, batch: int = BATCH) -> int:
    """Delete these rows, at most `batch` in a transaction, in the queryset's order, which an index must give; return how
    many.

    A row that somebody else has locked is passed over, also by a second run at the same time. What is left after
    RUN_SECONDS, or where a table is locked, is left to the next run.
    """
    end = time.monotonic() + RUN_SECONDS
    deleted = 0
    while True:
        found = _purge_some(rows, batch)
        deleted += found
        if found < batch or time.monotonic() >= end:
            return deleted


def oldest_of(rows: QuerySet[Any]) -> QuerySet[Any]:
    """Limit rows to those among the lowest ids of their table: for one that has no index on its date, where ids follow
    it."""
    lowest = rows.model._default_manager.order_by("pk").values("pk")[:BATCH]  # noqa: SLF001 (documented)
    return rows.filter(pk__in=lowest).order_by("pk")


def _purge_some(rows: QuerySet[Any], batch: int) -> int:
    try:
        with transaction.atomic(using=rows.db):
            return _delete(rows, batch)
    except OperationalError as error:
        if not isinstance(error.__cause__, LockNotAvailable | QueryCanceled):
            raise
        log.warning("%s is busy, and purged later: %s", rows.model.__name__, error)
        return 0


def _delete(rows: QuerySet[Any], batch: int) -> int:
    with connections[rows.db].cursor() as cursor:
        cursor.execute(_LIMITS)
    free = rows.select_for_update(skip_locked=True, of=("self",))
    found = list(free.values_list("pk", flat=True)[:batch])
    rows.model._default_manager.filter(pk__in=found).delete()  # noqa: SLF001 (documented)
    return len(found)
