"""The job that purges events."""

from django.utils import timezone

from gateway.core.events.operations import deliveries
from gateway.core.jobs.operations.recording import job


@job("events")
def purge_events() -> int:
    """Delete old events, with their deliveries and mails."""
    return deliveries.purge(now=timezone.now())
