"""Purges answer counts, which are retained for a while so that versions can be compared."""

from datetime import datetime, timedelta

from django.conf import settings

from gateway.core.database.purge import purge as purge_rows
from judgement.models import AnswerCount


def purge(*, now: datetime) -> int:
    """Delete the counts of old days; return the number of rows."""
    first = (now - timedelta(days=settings.JUDGEMENT_COUNT_DAYS)).date()
    return purge_rows(AnswerCount.objects.filter(day__lt=first).order_by("day"))
