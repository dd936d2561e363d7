"""Record each run of a job: its start and end, what it did, and its error.

The row is committed before the work starts, so that a run whose worker dies stays visible. A run that had nothing to
do, or failed like the previous one, is merged into the previous row: a job that runs every 15 seconds would otherwise
write 5,760 useless rows a day. A failure to record a run never prevents the job from running.
"""

import logging
from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar

from celery import shared_task
from django.db import transaction
from django.db.models import F
from django.utils import timezone

from gateway.core.jobs.models import JobRun, Outcome
from gateway.core.jobs.rules.counts import counts_of

log = logging.getLogger("jobs")

ERROR_MAX_CHARACTERS = 500

Result = TypeVar("Result")


def job(kind: str) -> Callable[[Callable[[], Result]], Any]:
    """Turn a function into a scheduled task, and record its runs.

    The function returns what it did: a number, which counts `kind` ("calls"), or a mapping of kinds to numbers.
    """

    def decorate(work: Callable[[], Result]) -> Any:
        name = f"{work.__module__}.{work.__name__}"

        @shared_task
        @wraps(work)
        def run() -> Result:
            row = _begin(name)
            try:
                result = work()
            except BaseException as error:
                _end(row, Outcome.FAILED, {}, _shown(error))
                raise
            _end(row, Outcome.DONE, counts_of(result, kind), None)  # type: ignore[arg-type]
            return result

        return run

    return decorate


def _begin(name: str) -> JobRun | None:
    try:
        return JobRun.objects.create(job=name, started_at=timezone.now())
    except Exception:
        log.exception("the run of %s cannot be recorded", name)
        return None


def _end(row: JobRun | None, outcome: Outcome, counts: dict[str, int], error: str | None) -> None:
    if row is None:
        return
    row.outcome, row.counts, row.error, row.ended_at = outcome, counts, error, timezone.now()
    try:
        with transaction.atomic():
            if counts or not _fold(row):
                row.save(update_fields=["outcome", "counts", "error", "ended_at"])
    except Exception:
        log.exception("the end of a run of %s cannot be recorded", row.job)


def _fold(row: JobRun) -> bool:
    """Merge a run into the previous row if both had the same outcome on the same day; return whether it was merged."""
    before = JobRun.objects.filter(job=row.job, pk__lt=row.pk).order_by("-pk").first()
    if before is None or before.counts or (before.outcome, before.error) != (row.outcome, row.error):
        return False
    if before.started_at.date() != row.started_at.date():
        return False
    folded = JobRun.objects.filter(pk=before.pk).update(ended_at=row.ended_at, runs=F("runs") + 1)
    if folded:
        row.delete()
    return bool(folded)


def _shown(error: BaseException) -> str:
    """Return the part of an error to show: its first line, because the further lines of database errors quote rows."""
    words = str(error).partition("\n")[0]
    return f"{type(error).__name__}: {words}"[:ERROR_MAX_CHARACTERS].replace("\x00", "")
