"""An owner's use in a UTC month: by product and member, by app, by day, by model.

These reports are for pages, so they are never refused: the most expensive rows are shown, and the rest is summed. The
API's summary, which must not show partial data, has limits of its own (`reports.py`).
"""

from collections.abc import Callable
from datetime import date, timedelta
from typing import Any, TypeVar

from billing.queries.usage_facts import SUMS, read
from billing.rules.months import Month
from billing.rules.owners import Owner
from billing.rules.usage_reports import AppUse, DayUse, MemberUse, ModelUse, UsageReport, Use

ROWS_MAX = 200
"""The number of rows that a page can show and a person can read."""

# The total first (its grouping is not 0), then the most expensive rows.
_REPORT = """
WITH facts AS ({{facts}})
SELECT grouping({keys}) = 0, count(*) OVER () - 1, {sums}, {keys}
  FROM facts GROUP BY GROUPING SETS (({keys}), ())
 ORDER BY 1, sum(charged_microusd) DESC, sum(calls) DESC, {keys} LIMIT %(limit)s
"""
_DAYS = f"WITH facts AS ({{facts}}) SELECT day, {SUMS} FROM facts GROUP BY day ORDER BY day"  # noqa: S608 (our own text)

_TOTAL = f"SELECT {SUMS} FROM ({{facts}}) f"  # noqa: S608 (our own text)

Row = TypeVar("Row")


def total(owner: Owner, month: Month) -> Use:
    """Sum an owner's use in a month."""
    found = read(owner, month, _TOTAL)
    return Use(*(amount or 0 for amount in found[0])) if found else Use()


def by_product_and_member(owner: Owner, month: Month, *, rows_max: int = ROWS_MAX) -> UsageReport[MemberUse]:
    """Report the use of products by members, most expensive first."""
    return _report(owner, month, "product, membership_id, actor_did", MemberUse, rows_max)


def by_model(owner: Owner, month: Month, *, rows_max: int = ROWS_MAX) -> UsageReport[ModelUse]:
    """Report the use of models, most expensive first."""
    return _report(owner, month, "model", ModelUse, rows_max)


def by_app(owner: Owner, month: Month, *, rows_max: int = ROWS_MAX) -> UsageReport[AppUse]:
    """Report the use by apps, most expensive first."""
    return _report(owner, month, "client_id", AppUse, rows_max)


def by_day(owner: Owner, month: Month) -> tuple[DayUse, ...]:
    """Report each day of the month in order, days without use included."""
    used = {day: Use(*sums) for day, *sums in read(owner, month, _DAYS)}
    return tuple(DayUse(day, used.get(day, Use())) for day in _days(month))


def _report(owner: Owner, month: Month, keys: str, row: Callable[..., Row], rows_max: int) -> UsageReport[Row]:
    query = _REPORT.format(keys=keys, sums=SUMS)
    found = read(owner, month, query, limit=rows_max + 1)
    if len(found) < 2:  # only the total, of no rows
        return UsageReport((), Use())
    (_, count, *sums), *shown = found
    total, uses = Use(*sums[:4]), [_use(one) for one in shown]
    rows = tuple(row(*one[6:], use) for one, use in zip(shown, uses, strict=True))
    return UsageReport(rows, total, total - sum(uses, Use()), count - len(rows))


def _use(found: tuple[Any, ...]) -> Use:
    return Use(*found[2:6])


def _days(month: Month) -> list[date]:
    first, end = month[0].date(), month[1].date()
    return [first + timedelta(days=number) for number in range((end - first).days)]
