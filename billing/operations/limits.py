"""Sets the rate limits of one subject, and clears away the tokens of settled calls that no call has counted."""

from datetime import datetime, timedelta

from django.db import transaction

from billing.models import Limit, LimitUse
from billing.operations.statement import Statement
from billing.rules.limits import LimitScope, Quotas
from gateway.core.database.purge import BATCH, oldest_of, purge_once

KEPT = timedelta(hours=1)
"""Far longer than a settlement takes to commit."""

# Tokens beyond a limit may take far longer to be paid back, and are owed even if nobody calls meanwhile.
_COUNT = """
SELECT billing_lock_limits(array_agg(ROW(m.scope, m.subject, NULL, NULL, NULL)::billing_rate_limit))
  FROM billing_limit_meter m
 WHERE m.tokens_quota IS NOT NULL
   AND (m.scope, m.subject) IN (
     SELECT o.scope, o.subject
       FROM (SELECT u.scope, u.subject, u.used_at FROM billing_limit_use u ORDER BY u.id LIMIT %(batch)s) o
      WHERE o.used_at <= %(before)s)
"""


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
    """Count the tokens of settled calls that were used an hour ago and that no call has counted. Delete those that no limit counts;
    return how many rows these were."""
    before = now - KEPT
    Statement(_COUNT, {"before": before, "batch": BATCH}, lambda row: None).run()
    # One batch: the tokens in the rows behind it are not counted yet.
    return purge_once(oldest_of(LimitUse.objects.filter(used_at__lte=before)))
