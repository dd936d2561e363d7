"""Forgets tokens that no rate limit will count any more."""

from datetime import datetime, timedelta

from billing.models import LimitUse
from gateway.core.database.purge import oldest_of
from gateway.core.database.purge import purge as purge_rows

KEPT = timedelta(hours=1)
"""Far longer than a settlement takes to commit. A limit under which nobody called since has drained, or was taken away."""


def purge_uses(*, now: datetime) -> int:
    """Delete the tokens of settled calls that were used an hour ago and are not counted yet; return how many rows there were."""
    return purge_rows(oldest_of(LimitUse.objects.filter(used_at__lte=now - KEPT)))
