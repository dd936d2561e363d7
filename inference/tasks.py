"""The model routes' jobs."""

from celery import shared_task
from django.utils import timezone

from inference.metering import recovery


@shared_task
def recover_calls() -> int:
    """Close what server processes had under way when they died."""
    return recovery.recover(now=timezone.now())
