"""The job that purges the records of runs."""

from django.utils import timezone

from gateway.core.jobs.operations import runs
from gateway.core.jobs.operations.recording import job


@job("runs")
def purge_runs() -> int:
    """Delete the records of old runs."""
    return runs.purge(now=timezone.now())
