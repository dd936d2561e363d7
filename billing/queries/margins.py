"""What calls earned and cost in a month, by model, product, deployment or day.

Most of it comes from the days into which a job sums closed calls (`MarginDay`); calls that closed after that job's horizon
are read one by one, from the same database snapshot.
"""

from datetime import datetime, timedelta
from typing import Any

from django.db import connection

from billing.models import ModelMargin, UsageHorizon
from billing.queries.snapshots import one_snapshot
from billing.queries.usage_facts import horizon
from billing.rules.margins import Margin, NegativeMargin
from billing.rules.months import Month, months_since

MONTHS_MAX = 120

KEYS = ("model", "product", "deployment", "closed_on")

_REPORT = """
WITH facts AS (
  SELECT d.closed_on, d.model, d.product, d.deployment, d.calls, d.charged_microusd, d.cost_microusd, d.uncosted_calls,
         d.uncosted_charged_microusd
    FROM billing_margin_day d WHERE d.closed_on >= %(first)s AND d.closed_on < %(after)s
  UNION ALL
  SELECT (r.closed_at AT TIME ZONE 'UTC')::date, r.model, r.product, r.deployment, 1, r.charge_microusd,
         coalesce(u.cost_microusd, 0), CASE WHEN u.cost_microusd IS NULL THEN 1 ELSE 0 END,
         CASE WHEN u.cost_microusd IS NULL THEN r.charge_microusd ELSE 0 END
    FROM billing_reservation r LEFT JOIN billing_usage_record u ON u.reservation_id = r.id
   WHERE r.closed_at >= greatest(%(start)s, %(horizon)s) AND r.closed_at < %(end)s AND r.state = 'settled'
)
SELECT {key}, sum(calls)::bigint, sum(charged_microusd)::bigint, sum(cost_microusd)::bigint, sum(uncosted_calls)::bigint,
       sum(uncosted_charged_microusd)::bigint
  FROM facts GROUP BY 1 ORDER BY 3 DESC, 2 DESC, 1
"""


def by(key: str, month: Month) -> dict[Any, Margin]:
    """Sum a month's calls by one of KEYS, highest charges first; calls without a product or deployment are at None."""
    assert key in KEYS
    start, end = month
    with one_snapshot(), connection.cursor() as cursor:
        period = {"start": start, "end": end, "first": start.date(), "after": end.date(), "horizon": horizon()}
        cursor.execute(_REPORT.format(key=key), period)
        return {found: Margin(*sums) for found, *sums in cursor.fetchall()}


def begin_at() -> datetime | None:
    """Return when the first calls closed that the margins include; None before the first run of their job."""
    return UsageHorizon.objects.values_list("margins_begin_at", flat=True).first()


def months(begin_at: datetime | None, now: datetime) -> list[Month]:
    """List the months with margins, which begin at `begin_at`, newest first. Yesterday's may not be in a day yet."""
    yesterday = now - timedelta(days=1)
    return months_since(min(begin_at, yesterday) if begin_at else yesterday, now, MONTHS_MAX)


def negative() -> list[NegativeMargin]:
    """Return the models whose last calls cost more than they earned, those first that do so longest."""
    return [
        NegativeMargin(row.model, len(row.margins_microusd), sum(row.margins_microusd), row.negative_since)
        for row in ModelMargin.objects.exclude(negative_since=None).order_by("negative_since", "model")
        if row.negative_since
    ]
