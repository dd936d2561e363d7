"""What calls earned and cost on the last 60 days, and the accounts that were active, for the console's home page.

Nearly all of it comes from the days into which a job sums closed calls. Calls that closed after that job's horizon are read one
by one, from the same snapshot: at most NEWER_MAX, so that a job that stopped makes the page incomplete and not slow. The horizon is
read once before as well: only a time that the planner knows makes it take the index of times instead of reading all calls.
"""

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, time, timedelta
from typing import Any

from django.db import connection

from billing.queries import usage_facts
from billing.rules.margins import Margin

NEWER_MAX = 50_000

_REPORT = """
WITH newer AS MATERIALIZED (
  SELECT (r.closed_at AT TIME ZONE 'UTC')::date AS day, r.model, r.product, r.deployment, r.actor_did, r.charge_microusd,
         u.cost_microusd
    FROM billing_reservation r LEFT JOIN billing_usage_record u ON u.reservation_id = r.id
   WHERE r.closed_at >= greatest(coalesce((SELECT h.ends_at FROM billing_usage_horizon h), %(start)s), %(start)s)
     AND r.closed_at >= %(newer)s AND r.state = 'settled'
   LIMIT %(most)s
), facts AS MATERIALIZED (
  SELECT d.closed_on AS day, d.closed_on >= %(first)s AS is_current, d.model, d.product, d.deployment, d.calls,
         d.charged_microusd, d.cost_microusd, d.uncosted_calls, d.uncosted_charged_microusd
    FROM billing_margin_day d WHERE d.closed_on >= %(before)s
  UNION ALL
  SELECT n.day, n.day >= %(first)s, n.model, n.product, n.deployment, count(*), sum(n.charge_microusd),
         coalesce(sum(n.cost_microusd), 0), count(*) - count(n.cost_microusd),
         coalesce(sum(n.charge_microusd) FILTER (WHERE n.cost_microusd IS NULL), 0)
    FROM newer n GROUP BY 1, 3, 4, 5
), fresh AS (
  SELECT n.day, n.actor_did, coalesce(a.last_on, '-infinity') AS last_on
    FROM newer n LEFT JOIN billing_active_account a ON a.actor_did = n.actor_did
)
SELECT CASE GROUPING(f.day, f.model, f.product, f.deployment)
         WHEN 7 THEN 'day' WHEN 11 THEN 'model' WHEN 13 THEN 'product' ELSE 'deployment' END, f.day,
       coalesce(f.model, f.product, f.deployment), sum(f.calls)::bigint, sum(f.charged_microusd)::bigint,
       sum(f.cost_microusd)::bigint, sum(f.uncosted_calls)::bigint, sum(f.uncosted_charged_microusd)::bigint
  FROM facts f GROUP BY GROUPING SETS ((f.day), (f.is_current, f.model), (f.is_current, f.product), (f.is_current, f.deployment))
HAVING GROUPING(f.day) = 0 OR f.is_current
UNION ALL
SELECT 'active', a.day, NULL, a.accounts, a.last_accounts, a.month_accounts, 0, 0
  FROM billing_active_day a WHERE a.day >= %(before)s
UNION ALL
SELECT 'newly active', f.day, NULL, count(DISTINCT f.actor_did), 0, 0, 0, 0 FROM fresh f WHERE f.last_on < f.day GROUP BY f.day
UNION ALL
SELECT 'newly in period', NULL, NULL, count(DISTINCT f.actor_did), 0, 0, 0, 0
  FROM fresh f WHERE f.last_on < %(first)s AND f.day >= %(first)s
UNION ALL
SELECT 'newer', NULL, NULL, count(*), 0, 0, 0, 0 FROM newer
"""


@dataclass(slots=True)
class MoneyDays:
    """Sums by UTC day, and those of the last 30 days by model, product and deployment (None: no product, or not known).

    `active` are the active accounts by day; `active_now` those of the last 30 days, and `active_before` of the 30 before, None if
    the days do not go back that far. `active_since` is the first day that is counted. `is_whole` is false if not all new
    calls were read.
    """

    days: dict[date, Margin] = field(default_factory=dict)
    by: dict[str, dict[str | None, Margin]] = field(default_factory=lambda: defaultdict(dict))
    active: dict[date, int] = field(default_factory=dict)
    active_now: int = 0
    active_before: int | None = None
    active_since: date | None = None
    is_whole: bool = True


def read(today: date, first: date, before: date) -> MoneyDays:
    """Read the 30 days from `first` and the 30 from `before`, in one statement that sees one snapshot."""
    start = datetime.combine(before, time(), UTC)
    newer = max(usage_facts.horizon(), start)
    period: dict[str, Any] = {"first": first, "before": before, "start": start, "newer": newer, "most": NEWER_MAX}
    found = MoneyDays()
    with connection.cursor() as cursor:
        cursor.execute(_REPORT, period)
        for kind, day, name, *sums in cursor.fetchall():
            _add(found, kind, day, name, sums, {"first": first, "last_before": first - timedelta(days=1)})
    return found


def _add(found: MoneyDays, kind: str, day: Any, name: str | None, sums: list[int], period: Mapping[str, date]) -> None:
    match kind:
        case "day":
            found.days[day] = Margin(*sums)
        case "active":
            found.active[day] = found.active.get(day, 0) + sums[0]
            found.active_since = min(found.active_since or day, day)
            if day >= period["first"]:
                found.active_now += sums[1]
            if day == period["last_before"]:
                found.active_before = sums[2]
        case "newly active":
            found.active[day] = found.active.get(day, 0) + sums[0]
        case "newly in period":
            found.active_now += sums[0]
        case "newer":
            found.is_whole = sums[0] < NEWER_MAX
        case _:
            found.by[kind][name] = Margin(*sums)
