"""Sum closed calls up by days, so that a report need not read them one by one. Not on the hot path.

The days are derived: reports read what the days do not have yet from the calls themselves, and `rebuild` makes all of
them again.
"""

import logging
from datetime import datetime, timedelta

from django.db import transaction

from billing.models import UsageDay, UsageHorizon, UsageSubject
from billing.models.reservation import BEGINNING
from billing.operations import finality
from billing.operations.statement import call

log = logging.getLogger("billing.usage_days")

SPAN = timedelta(days=1)
"""As much as one transaction adds: a first run over years of calls goes on from wherever it was stopped."""


def roll_up(*, margin: timedelta = finality.MARGIN) -> int:
    """Add the calls that became final until `margin` ago; return how many."""
    ends_at = finality.final_until(margin)
    if ends_at is None:
        log.warning("no use was added: a transaction has been writing for more than %d s", finality.WAIT_SECONDS)
        return 0
    return roll_up_until(ends_at)


def roll_up_until(ends_at: datetime, *, span: timedelta = SPAN) -> int:
    """Add the calls that closed before `ends_at`, of which the caller knows that all are committed; return how many."""
    calls = 0
    while added := _step(ends_at, span):
        reached, found = added
        calls += found
        log.info("use until %s is added up: %d calls", reached.isoformat(), found)
    return calls


def rebuild(*, margin: timedelta = finality.MARGIN) -> int:
    """Make all days again from the calls; return how many calls they add up. Reports read the calls meanwhile."""
    with transaction.atomic():
        UsageHorizon.objects.update(ends_at=BEGINNING, calls=0)  # first, so that no run adds to what is being deleted
        UsageDay.objects.all().delete()
        UsageSubject.objects.all().delete()
    return roll_up(margin=margin)


def _step(ends_at: datetime, span: timedelta) -> tuple[datetime, int] | None:
    rows = call("billing_roll_up_usage", tuple, ends_at=ends_at, span=span).rows()
    return rows[0] if rows else None
