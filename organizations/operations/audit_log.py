"""Purges the audit log. It is retained forever unless `AUDIT_DAYS` is set."""

from datetime import datetime, timedelta

from django.conf import settings

from gateway.core.database.purge import oldest_of
from gateway.core.database.purge import purge as purge_rows
from organizations.models import AuditEntry


def purge(*, now: datetime) -> int:
    """Delete the entries that are older than `AUDIT_DAYS`; return how many. The database refuses to delete those of the
    last year.
    """
    if settings.AUDIT_DAYS is None:
        return 0
    before = now - timedelta(days=settings.AUDIT_DAYS)
    return purge_rows(oldest_of(AuditEntry.objects.filter(created_at__lt=before)))
