"""Stored answers of settled calls."""

from datetime import datetime

from billing.models import StoredReplay

BATCH = 1000


def purge(*, now: datetime) -> int:
    """Delete the answers whose 24 hours are over, a batch at a time; return how many there were."""
    deleted = 0
    while batch := list(StoredReplay.objects.filter(expires_at__lte=now).values_list("pk", flat=True)[:BATCH]):
        deleted += StoredReplay.objects.filter(pk__in=batch).delete()[0]
    return deleted
