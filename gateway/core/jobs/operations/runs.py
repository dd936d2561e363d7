"""Purge the record of old runs."""

from datetime import datetime, timedelta

from gateway.core.jobs.models import JobRun

KEPT = timedelta(days=14)
BATCH = 1000


def purge(*, now: datetime) -> int:
    """Delete runs that began long ago, a batch at a time; return how many rows there were."""
    purged = 0
    old = JobRun.objects.filter(started_at__lt=now - KEPT).order_by("started_at")
    while batch := list(old.values_list("pk", flat=True)[:BATCH]):
        purged += JobRun.objects.filter(pk__in=batch).delete()[0]
    return purged
