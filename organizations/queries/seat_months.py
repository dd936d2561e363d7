"""Queries the intervals of an organization's products and seats in a month, which determine its cost."""

import struct

from django.db import connection

from billing.queries import external_mappings, seat_prices
from billing.queries.reports import report_limit
from billing.rules.months import Month
from organizations.rules.seat_billing import Intervals, SeatMonth, days_of_month

_NONE = Intervals()

# Returns all starts and all ends of a product as one binary value each, because there may be 10,000 intervals, and the
# driver takes longer to read rows of times than the database to find them. OFFSET 0 makes the planner use the index on
# a subject's intervals, even with statistics from when the tables were empty.
_INTERVALS = """
SELECT i.product, coalesce(string_agg(timestamptz_send(i.started_at), ''), ''),
       coalesce(string_agg(timestamptz_send(i.ended_at), ''), '')
  FROM (SELECT e.product_id AS product, i.started_at, i.ended_at
          FROM organizations_entitlement e {seats}
         CROSS JOIN LATERAL (
           SELECT i.started_at, i.ended_at FROM {intervals} i
            WHERE {subject} AND i.started_at < %(end)s AND coalesce(i.ended_at, 'infinity') > %(start)s OFFSET 0) i
         WHERE e.organization_id = %(org)s LIMIT %(most)s) i
 GROUP BY i.product
"""
_ENABLED = _INTERVALS.format(seats="", intervals="organizations_entitlementinterval", subject="i.entitlement_id = e.id")
_ASSIGNED = _INTERVALS.format(
    seats="JOIN organizations_seat s ON s.entitlement_id = e.id",
    intervals="organizations_seatinterval",
    subject="i.seat_id = s.id",
)


def of(org_id: str, month: Month, *, limit: int | None = None) -> list[SeatMonth]:
    """Return each product that was enabled in a UTC month `[start, end)`, sorted by product.

    Raises OrgReportLimit beyond `limit` intervals. Invoices have no limit, because they must be created.
    """
    start, end = month
    enabled, assigned = _read(_ENABLED, org_id, month, limit), _read(_ASSIGNED, org_id, month, limit)
    _check(limit, *enabled.values(), *assigned.values())
    prices = seat_prices.of_month(enabled, start)
    elsewhere = external_mappings.products_of(org_id, before=end)
    days = days_of_month(start.date())
    return [
        SeatMonth(product, prices[product], product in elsewhere, enabled[product], assigned.get(product, _NONE), days)
        for product in sorted(enabled)
    ]


def _read(query: str, org_id: str, month: Month, limit: int | None) -> dict[str, Intervals]:
    """Read the intervals that overlap the month by product, at most one more than the limit."""
    start, end = month
    most = None if limit is None else limit + 1
    with connection.cursor() as cursor:
        cursor.execute(query, {"org": org_id, "start": start, "end": end, "most": most})
        return {product: Intervals(_times(starts), _times(ends)) for product, starts, ends in cursor.fetchall()}


def _times(sent: bytes) -> list[int]:
    """Unpack times, which PostgreSQL sends as 64-bit integers: microseconds since EPOCH."""
    return sorted(struct.unpack(f">{len(sent) // 8}q", sent))


def _check(limit: int | None, *intervals: Intervals) -> None:
    if limit is not None and sum(len(found.starts) for found in intervals) > limit:
        raise report_limit(limit)
