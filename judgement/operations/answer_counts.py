"""Answer counts are kept for a while, so that versions can be compared."""

from datetime import datetime, timedelta

from judgement.models import AnswerCount

DAYS = 90


def purge(*, now: datetime) -> int:
    """Delete the counts of days that are over for more than 90 days; return how many rows they had."""
    deleted, _ = AnswerCount.objects.filter(day__lt=(now - timedelta(days=DAYS)).date()).delete()
    return deleted
