"""Purges the table that serves as Django's cache (`gateway.core.database.cache`)."""

from datetime import datetime

from accounts.models import CacheEntry
from gateway.core.database.purge import purge


def purge_expired(*, now: datetime) -> int:
    """Delete expired entries; return how many."""
    return purge(CacheEntry.objects.filter(expires_at__lt=now).order_by("expires_at"))
