"""The intervals of an organization's products and seats in a month, from which alone its cost follows."""

from collections import defaultdict
from datetime import UTC, datetime, timedelta

import orjson
from django.db import connection

from billing.queries import external_mappings, seat_prices
from billing.queries.reports import report_limit
from organizations.rules.seat_billing import Interval, SeatMonth, days_of_month

Spans = dict[str, list[Interval]]
Month = tuple[datetime, datetime]

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)

# As one JSON array for each product: there may be 10,000 intervals, and a driver reads times one by one.
_SPANS = """
SELECT i.product, json_agg(json_build_array(i.started, i.ended))::text
  FROM (SELECT e.product_id AS product, (extract(epoch FROM i.started_at) * 1000000)::bigint AS started,
               (extract(epoch FROM i.ended_at) * 1000000)::bigint AS ended
          FROM {intervals}
         WHERE e.organization_id = %(org)s AND i.started_at < %(end)s AND (i.ended_at IS NULL OR i.ended_at > %(start)s)
         LIMIT %(most)s) i
 GROUP BY i.product
"""
_ENABLED = _SPANS.format(
    intervals="organizations_entitlementinterval i JOIN organizations_entitlement e ON e.id = i.entitlement_id"
)
_ASSIGNED = _SPANS.format(
    intervals="""organizations_seatinterval i JOIN organizations_seat s ON s.id = i.seat_id
          JOIN organizations_entitlement e ON e.id = s.entitlement_id"""
)


def of(org_id: str, month: Month, *, limit: int | None = None) -> list[SeatMonth]:
    """Return each product that was enabled within a UTC month `[start, end)`, in the products' order.

    Raises OrgReportLimit beyond `limit` intervals; an invoice has none, for it must be made.
    """
    start, end = month
    enabled, assigned = _spans(org_id, month, limit)
    prices = seat_prices.of_month(enabled, start)
    elsewhere = external_mappings.products_of(org_id, before=end)
    days = days_of_month(start.date())
    return [
        SeatMonth(product, prices[product], product in elsewhere, enabled[product], assigned[product], days)
        for product in sorted(enabled)
    ]


def _spans(org_id: str, month: Month, limit: int | None) -> tuple[Spans, Spans]:
    """Read the intervals of products and of seats that the month touches, by product."""
    enabled, assigned = (_read(query, org_id, month, limit) for query in (_ENABLED, _ASSIGNED))
    if limit is not None and sum(len(spans) for spans in (*enabled.values(), *assigned.values())) > limit:
        raise report_limit(limit)
    return enabled, assigned


def _read(query: str, org_id: str, month: Month, limit: int | None) -> Spans:
    """Read intervals by product, at most one more than the limit."""
    start, end = month
    most = None if limit is None else limit + 1
    with connection.cursor() as cursor:
        cursor.execute(query, {"org": org_id, "start": start, "end": end, "most": most})
        found = {product: [_interval(*times) for times in orjson.loads(spans)] for product, spans in cursor.fetchall()}
    return defaultdict(list, found)


def _interval(started: int, ended: int | None) -> Interval:
    return Interval(_time(started), None if ended is None else _time(ended))


def _time(microseconds: int) -> datetime:
    return EPOCH + timedelta(microseconds=microseconds)
