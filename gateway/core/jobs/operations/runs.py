"""Purge the records of old runs."""

from datetime import datetime, timedelta

from gateway.core.database.purge import purge as purge_rows
from gateway.core.jobs.models import JobRun

RETENTION = timedelta(days=14)


def purge(*, now: datetime) -> int:
    """Delete the records of old runs; return how many rows there were."""
    return purge_rows(JobRun.objects.filter(started_at__lt=now - RETENTION).order_by("started_at"))
