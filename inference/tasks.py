"""The model routes' jobs."""

from celery import shared_task
from django.utils import timezone

from inference.metering import recovery
from inference.operations import stored_responses


@shared_task
def recover_calls() -> int:
    """Close what server processes had under way when they died."""
    return recovery.recover(now=timezone.now())


@shared_task
def purge_responses() -> int:
    """Delete stored responses whose time is over."""
    return stored_responses.purge(now=timezone.now())
