"""Sum closed calls, their margins and the active accounts by day, so that a report need not read them one by one. Not on the hot path.

The days are derived data: reports read calls that are not in the days yet directly, and `rebuild` recomputes all days.
"""

import logging
from datetime import datetime, timedelta

from django.db import transaction

from billing.models import ActiveAccount, ActiveDay, MarginDay, ModelMargin, UsageDay, UsageHorizon, UsageSubject
from billing.models.call import BEGINNING
from billing.operations import finality
from billing.operations.statement import call

log = logging.getLogger("billing.usage_days")

SPAN = timedelta(days=1)
"""The time range that one transaction adds, so that an interrupted first run over years of calls can continue."""


def roll_up(*, margin: timedelta = finality.MARGIN) -> int:
    """Add the calls that became final until `margin` ago; return how many."""
    ends_at = finality.final_until(margin)
    if ends_at is None:
        log.warning("no use was added: a transaction has been writing for more than %d s", finality.WAIT_SECONDS)
        return 0
    return roll_up_until(ends_at)


def roll_up_until(ends_at: datetime, *, span: timedelta = SPAN) -> int:
    """Add the calls that closed before `ends_at`; return how many. The caller ensures that all of them are
    committed."""
    calls = 0
    while added := _step(ends_at, span):
        reached, found = added
        calls += found
        log.info("use until %s is added up: %d calls", reached.isoformat(), found)
    return calls


def rebuild(*, margin: timedelta = finality.MARGIN) -> int:
    """Recompute all days from the calls; return how many calls they contain. Meanwhile, reports read the calls."""
    with transaction.atomic():
        UsageHorizon.objects.update(ends_at=BEGINNING, calls=0)  # first, so that no run adds to rows being deleted
        UsageDay.objects.all().delete()
        UsageSubject.objects.all().delete()
        MarginDay.objects.all().delete()
        ActiveDay.objects.all().delete()
        ActiveAccount.objects.all().delete()
        ModelMargin.objects.update(margins_microusd=[])
    return roll_up(margin=margin)


def _step(ends_at: datetime, span: timedelta) -> tuple[datetime, int] | None:
    rows = call("billing_roll_up_usage", tuple, ends_at=ends_at, span=span).rows()
    return rows[0] if rows else None
