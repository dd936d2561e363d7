"""The judgement app's jobs."""

from celery import shared_task
from django.utils import timezone

from judgement.operations import answer_counts


@shared_task
def purge_answer_counts() -> int:
    """Delete counts of answers that are too old to be compared."""
    return answer_counts.purge(now=timezone.now())
