"""Purges the log of operators' actions in the console. It is retained forever unless `AUDIT_DAYS` is set."""

from datetime import datetime, timedelta

from django.conf import settings
from django.contrib.admin.models import LogEntry

from gateway.core.database.purge import oldest_of
from gateway.core.database.purge import purge as purge_rows


def purge(*, now: datetime) -> int:
    """Delete the entries that are older than `AUDIT_DAYS`; return how many."""
    if settings.AUDIT_DAYS is None:
        return 0
    before = now - timedelta(days=settings.AUDIT_DAYS)
    return purge_rows(oldest_of(LogEntry.objects.filter(action_time__lt=before)))
