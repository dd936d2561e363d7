"""The intervals of an organization's products and seats in a month, from which alone its cost follows."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any, TypeVar

from django.db.models import Model, Q, QuerySet

from billing.queries import external_mappings, seat_prices
from billing.queries.reports import bounded, report_limit
from organizations.models import EntitlementInterval, SeatInterval
from organizations.rules.seat_billing import Interval, SeatMonth, days_of_month

Spans = dict[str, list[Interval]]
Month = tuple[datetime, datetime]
AnInterval = TypeVar("AnInterval", bound=Model)


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
    products = _touching(EntitlementInterval.objects.filter(entitlement__organization_id=org_id), month)
    seats = _touching(SeatInterval.objects.filter(seat__entitlement__organization_id=org_id), month)
    enabled = _read(products.values_list("entitlement__product_id", "started_at", "ended_at"), limit)
    assigned = _read(seats.values_list("seat__entitlement__product_id", "started_at", "ended_at"), limit)
    if limit is not None and len(enabled) + len(assigned) > limit:
        raise report_limit(limit)
    return _grouped(enabled), _grouped(assigned)


def _read(rows: "QuerySet[Any, Any]", limit: int | None) -> Sequence[Any]:
    return list(rows) if limit is None else bounded(rows, limit)


def _touching(intervals: "QuerySet[AnInterval]", month: Month) -> "QuerySet[AnInterval]":
    start, end = month
    return intervals.filter(Q(ended_at__isnull=True) | Q(ended_at__gt=start), started_at__lt=end)


def _grouped(rows: Iterable[tuple[str, datetime, datetime | None]]) -> Spans:
    spans: Spans = defaultdict(list)
    for product, started_at, ended_at in rows:
        spans[product].append(Interval(started_at, ended_at))
    return spans
