"""The job that purges telemetry."""

from django.utils import timezone

from gateway.core.jobs.operations.recording import job
from gateway.core.telemetry.operations import purging


@job("rows")
def purge_telemetry() -> dict[str, int]:
    """Delete old requests and hours of traffic."""
    return purging.purge(now=timezone.now())
