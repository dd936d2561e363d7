"""Estimates the cost of an organization's seats this month: so far, and with today's assignments unchanged."""

from dataclasses import dataclass
from datetime import UTC, date, datetime

from billing.queries.snapshots import one_snapshot
from billing.rules.months import month_around
from gateway.core.contract.limits import REPORT_INTERVALS_MAX
from organizations.models import Entitlement
from organizations.queries import entitlements, seat_months
from organizations.rules.seat_billing import SeatMonth


@dataclass(frozen=True, slots=True)
class ProductEstimate:
    """One product's seats this month; `billable_seats` is today's, 0 while the product is disabled.

    Seats that are billed externally cost nothing here.
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
    """The estimate for all products that were enabled this month. `accrued` covers the days begun so far, `projected`
    the whole month.
    """

    month: date
    products: tuple[ProductEstimate, ...]

    @property
    def accrued_microusd(self) -> int:
        """Return the cost of the days so far."""
        return sum(product.accrued_microusd for product in self.products)

    @property
    def projected_microusd(self) -> int:
        """Return the projected cost of the month."""
        return sum(product.projected_microusd for product in self.products)


def estimate(org_id: str, now: datetime) -> SeatEstimate:
    """Estimate this month's seats at one moment, or raise OrgReportLimit."""
    month, today = month_around(now), now.astimezone(UTC).date()
    with one_snapshot():
        months = {one.product: one for one in seat_months.of(org_id, month, limit=REPORT_INTERVALS_MAX)}
        found = entitlements.with_counts().filter(organization_id=org_id, product_id__in=months)
        return SeatEstimate(month[0].date(), tuple(_row(one, months[one.product_id], today) for one in found))


def _row(entitlement: Entitlement, month: SeatMonth, today: date) -> ProductEstimate:
    return ProductEstimate(
        product=month.product,
        monthly_price_microusd=month.price_microusd,
        assigned_seats=getattr(entitlement, "assigned_seats", 0),
        billable_seats=month.billable_seats[today] if entitlement.is_enabled else 0,
        accrued_microusd=month.cost_microusd(until=today),
        projected_microusd=month.cost_microusd(),
        externally_billed=month.is_externally_billed,
    )
