"""Sets the rate limits of one subject, and forgets tokens that no rate limit will count any more."""

from datetime import datetime, timedelta

from django.db import transaction

from billing.models import Limit, LimitUse
from billing.rules.limits import LimitScope, Quotas
from gateway.core.database.purge import oldest_of
from gateway.core.database.purge import purge as purge_rows

KEPT = timedelta(hours=1)
"""Far longer than a settlement takes to commit. A limit under which nobody called since has drained, or was taken away."""


@transaction.atomic
def put(*, scope: LimitScope, subject: str, quotas: Quotas) -> Quotas | None:
    """Set one subject's own limits, which replace those for all; return what they were, None if it had none of its own."""
    limit, is_new = Limit.objects.select_for_update().get_or_create(
        scope=scope, subject=subject, defaults=quotas._asdict()
    )
    if is_new:
        return None
    before = Quotas(limit.requests_per_minute, limit.tokens_per_minute, limit.concurrent)
    Limit.objects.filter(pk=limit.pk).update(**quotas._asdict())
    return before


def purge_uses(*, now: datetime) -> int:
    """Delete the tokens of settled calls that were used an hour ago and are not counted yet; return how many rows there were."""
    return purge_rows(oldest_of(LimitUse.objects.filter(used_at__lte=now - KEPT)))
