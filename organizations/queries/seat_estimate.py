"""What an organization's seats cost this month, so far and if today's assignments stay."""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, date, datetime
from typing import TypeVar

from django.db.models import Exists, Model, OuterRef, Q, QuerySet

from billing.models import ExternalMapping
from billing.queries.reports import bounded, report_limit
from billing.rules.months import month_around
from gateway.core.contract.limits import REPORT_INTERVALS_MAX
from organizations.models import Entitlement, EntitlementInterval, SeatInterval
from organizations.queries import entitlements
from organizations.rules.seat_billing import Interval, billable_seat_days, days_of_month, month_cost_microusd

Spans = dict[int, list[Interval]]
_MAPPED = Exists(ExternalMapping.objects.filter(org_id=OuterRef("organization_id"), product=OuterRef("product_id")))
AnInterval = TypeVar("AnInterval", bound=Model)


@dataclass(frozen=True, slots=True)
class ProductEstimate:
    """One product's seats this month; `billable_seats` is today's, 0 while the product is disabled.

    What is billed externally costs nothing here.
    """

    product: str
    monthly_price_microusd: int
    assigned_seats: int
    billable_seats: int
    accrued_microusd: int
    projected_microusd: int
    externally_billed: bool


@dataclass(frozen=True, slots=True)
class SeatEstimate:
    """All products that were enabled this month. Accrued counts the days begun so far, projected the whole month."""

    month: date
    products: tuple[ProductEstimate, ...]

    @property
    def accrued_microusd(self) -> int:
        """Sum up what is due for the days so far."""
        return sum(product.accrued_microusd for product in self.products)

    @property
    def projected_microusd(self) -> int:
        """Sum up what will be due for the month."""
        return sum(product.projected_microusd for product in self.products)


def estimate(org_id: str, now: datetime) -> SeatEstimate:
    """Estimate this month's seats, or raise OrgReportLimit."""
    month = month_around(now)
    enabled, assigned = _spans(org_id, month)
    found = entitlements.with_counts().filter(organization_id=org_id, id__in=enabled).select_related("product")
    found = found.annotate(externally_billed=_MAPPED)
    today = now.astimezone(UTC).date()
    rows = tuple(_row(one, enabled[one.pk], assigned[one.pk], today) for one in found)
    return SeatEstimate(month[0].date(), rows)


def _row(entitlement: Entitlement, enabled: list[Interval], seats: list[Interval], today: date) -> ProductEstimate:
    price, days = entitlement.product.seat_price_microusd, days_of_month(today)
    externally_billed = bool(getattr(entitlement, "externally_billed", False))

    def cost(counted: Iterable[date]) -> int:
        if externally_billed:
            return 0
        return month_cost_microusd(price, billable_seat_days(enabled, seats, counted), len(days))

    return ProductEstimate(
        product=entitlement.product_id,
        monthly_price_microusd=price,
        assigned_seats=getattr(entitlement, "assigned_seats", 0),
        billable_seats=billable_seat_days(enabled, seats, [today]) if entitlement.is_enabled else 0,
        accrued_microusd=cost(day for day in days if day <= today),
        projected_microusd=cost(days),
        externally_billed=externally_billed,
    )


def _spans(org_id: str, month: tuple[datetime, datetime]) -> tuple[Spans, Spans]:
    """Read the intervals of products and of seats that the month touches, by entitlement."""
    products = _touching(EntitlementInterval.objects.filter(entitlement__organization_id=org_id), month)
    seats = _touching(SeatInterval.objects.filter(seat__entitlement__organization_id=org_id), month)
    enabled = bounded(products.values_list("entitlement_id", "started_at", "ended_at"), REPORT_INTERVALS_MAX)
    assigned = bounded(seats.values_list("seat__entitlement_id", "started_at", "ended_at"), REPORT_INTERVALS_MAX)
    if len(enabled) + len(assigned) > REPORT_INTERVALS_MAX:
        raise report_limit(REPORT_INTERVALS_MAX)
    return _grouped(enabled), _grouped(assigned)


def _touching(intervals: "QuerySet[AnInterval]", month: tuple[datetime, datetime]) -> "QuerySet[AnInterval]":
    start, end = month
    return intervals.filter(Q(ended_at__isnull=True) | Q(ended_at__gt=start), started_at__lt=end)


def _grouped(rows: Iterable[tuple[int, datetime, datetime | None]]) -> Spans:
    spans: Spans = defaultdict(list)
    for entitlement, started_at, ended_at in rows:
        spans[entitlement].append(Interval(started_at, ended_at))
    return spans
