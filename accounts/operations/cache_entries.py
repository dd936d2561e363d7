"""Clears the table that stands in for a cache (`gateway.core.database.cache`)."""

from datetime import datetime

from accounts.models import CacheEntry


def purge_expired(*, now: datetime) -> int:
    """Delete expired entries; return how many."""
    return CacheEntry.objects.filter(expires_at__lt=now).delete()[0]
