"""Stored answers of settled calls."""

from collections.abc import Sequence
from datetime import datetime

from billing.models import StoredReplay

BATCH = 1000


def delete(usage_ids: Sequence[str]) -> None:
    """Delete the answers of these calls. Their idempotency keys stay taken: nothing runs, or is charged, again."""
    StoredReplay.objects.filter(pk__in=usage_ids).delete()


def purge(*, now: datetime) -> int:
    """Delete the answers whose 24 hours are over, a batch at a time; return how many there were."""
    deleted = 0
    while batch := list(StoredReplay.objects.filter(expires_at__lte=now).values_list("pk", flat=True)[:BATCH]):
        deleted += StoredReplay.objects.filter(pk__in=batch).delete()[0]
    return deleted
