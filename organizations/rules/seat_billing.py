"""Computes the cost of seats from the seat-days of a UTC month, rounded once. SPEC: Organization-related resources,
Seat billing.

Times are integers, microseconds since EPOCH. A month may have 10,000 intervals, and integers are as exact as datetimes
but much faster to compare, sort and read.
"""

import calendar
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from functools import cached_property

EPOCH = datetime(2000, 1, 1, tzinfo=UTC)
"""The time from which PostgreSQL counts microseconds."""

DAY = 24 * 60 * 60 * 1_000_000


@dataclass(frozen=True, slots=True)
class Intervals:
    """Half-open intervals `[start, end)`, as all starts and all ends, each in ascending order.

    An open interval has no end. Counting does not need to know which end belongs to which start.
    """

    starts: Sequence[int] = ()
    ends: Sequence[int] = ()

    def count(self, at: int) -> int:
        """Count the intervals that contain an instant."""
        return bisect_right(self.starts, at) - bisect_right(self.ends, at)

    def peak(self, start: int, end: int) -> int:
        """Return the largest number of intervals that contain one instant of `[start, end)`. It only rises at a
        start.
        """
        begun = self.starts[bisect_right(self.starts, start) : bisect_left(self.starts, end)]
        return max(map(self.count, (start, *begun)))


def microseconds(at: datetime) -> int:
    """Return the microseconds from EPOCH to an aware time."""
    return (at - EPOCH) // timedelta(microseconds=1)


def days_of_month(month: date) -> list[date]:
    """List the days of the month that `month` lies in."""
    count = calendar.monthrange(month.year, month.month)[1]
    return [month.replace(day=day) for day in range(1, count + 1)]


def billable_seats(enabled: Intervals, seats: Intervals, days: Iterable[date]) -> dict[date, int]:
    """Return the billable seats of each of some days.

    A day on which the product was enabled at any time counts max(1, the most seats assigned at once); other days count
    0.
    """
    return {day: _seats_of(enabled, seats, day) for day in days}


def _seats_of(enabled: Intervals, seats: Intervals, day: date) -> int:
    start = microseconds(datetime.combine(day, time.min, UTC))
    end = start + DAY
    return max(1, seats.peak(start, end)) if enabled.peak(start, end) else 0


def month_cost_microusd(price_microusd: int, seat_days: int, days_in_month: int) -> int:
    """Compute the price of seat-days: multiply first, divide once, and round half up once."""
    return (2 * price_microusd * seat_days + days_in_month) // (2 * days_in_month)


@dataclass(frozen=True)
class SeatMonth:
    """A product that an organization had enabled in a month, and all that determines its cost.

    Estimate and invoice both use it, so that their amounts agree.
    """

    product: str
    price_microusd: int
    is_externally_billed: bool
    enabled: Intervals
    seats: Intervals
    days: Sequence[date]

    @cached_property
    def billable_seats(self) -> dict[date, int]:
        """Return the billable seats of each day of the month."""
        return billable_seats(self.enabled, self.seats, self.days)

    def seat_days(self, until: date | None = None) -> int:
        """Count the billable seat-days of the month, or of its days up to and including `until`."""
        return sum(count for day, count in self.billable_seats.items() if until is None or day <= until)

    def cost_microusd(self, until: date | None = None) -> int:
        """Return the cost of these seat-days; 0 if they are billed externally."""
        if self.is_externally_billed:
            return 0
        return month_cost_microusd(self.price_microusd, self.seat_days(until), len(self.days))
