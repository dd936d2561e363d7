"""The jobs of the events app. Each may run twice, concurrently or late, without repeating another run's effect."""

from django.utils import timezone

from gateway.core.events.operations import mails
from gateway.core.jobs.operations.recording import job


@job("mails")
def send_mails() -> dict[str, int]:
    """Send the mails that are due."""
    return mails.postman.send_due(timezone.now)
