"""What seats cost: seat-days of a UTC month, and the one rounding. SPEC: Organization-related resources, Seat billing.

Times are aware datetimes, intervals half-open; an interval without an end is still open.
"""

import calendar
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from functools import cached_property
from typing import NamedTuple

DAY = timedelta(days=1)


class Interval(NamedTuple):
    """`[start, end)`; an `end` of None has not come yet."""

    start: datetime
    end: datetime | None = None

    def overlaps(self, start: datetime, end: datetime) -> bool:
        """Return whether any instant of `[start, end)` is in the interval."""
        return self.start < end and (self.end is None or self.end > start)


def days_of_month(month: date) -> list[date]:
    """List the days of the month that `month` lies in."""
    count = calendar.monthrange(month.year, month.month)[1]
    return [month.replace(day=day) for day in range(1, count + 1)]


def billable_seats(enabled: Iterable[Interval], seats: Iterable[Interval], days: Iterable[date]) -> dict[date, int]:
    """Return the billable seats of each of some days, which begin in order.

    A day on which the product was enabled at any time counts max(1, the most seats assigned at once); others nothing.
    """
    windows = list(enabled)
    peaks = _Peaks(seats)
    counted = {}
    for day in days:
        start = datetime.combine(day, time.min, UTC)
        peak = peaks.within(start, start + DAY)
        counted[day] = max(1, peak) if any(window.overlaps(start, start + DAY) for window in windows) else 0
    return counted


def month_cost_microusd(price_microusd: int, seat_days: int, days_in_month: int) -> int:
    """Price a product's month: multiplied first, divided once, rounded half up once."""
    return (2 * price_microusd * seat_days + days_in_month) // (2 * days_in_month)


@dataclass(frozen=True)
class SeatMonth:
    """A product that an organization had enabled in a month, and all that its cost follows from.

    The estimate and the invoice both ask it, so what is accrued and projected is what the invoice will say.
    """

    product: str
    price_microusd: int
    is_externally_billed: bool
    enabled: Sequence[Interval]
    seats: Sequence[Interval]
    days: Sequence[date]

    @cached_property
    def billable_seats(self) -> dict[date, int]:
        """The seats that each day of the month is billed for."""
        return billable_seats(self.enabled, self.seats, self.days)

    def seat_days(self, until: date | None = None) -> int:
        """Count the billable seat-days of the month, or of its days up to and with `until`."""
        return sum(count for day, count in self.billable_seats.items() if until is None or day <= until)

    def cost_microusd(self, until: date | None = None) -> int:
        """Return what these seat-days cost; nothing where an outside provider bills them."""
        if self.is_externally_billed:
            return 0
        return month_cost_microusd(self.price_microusd, self.seat_days(until), len(self.days))


class _Peaks:
    """Walks through seats' beginnings and ends once, in order; an end comes before a beginning of the same instant."""

    def __init__(self, seats: Iterable[Interval]) -> None:
        self._events = sorted(_events(seats))
        self._next = 0
        self._assigned = 0

    def within(self, start: datetime, end: datetime) -> int:
        """Return the most seats assigned at once within `[start, end)`; calls go forward in time."""
        for at in self._times():
            if at > start:
                break
            self._step()
        peak = self._assigned
        for at in self._times():
            if at >= end:
                break
            self._step()
            peak = max(peak, self._assigned)
        return peak

    def _times(self) -> Iterator[datetime]:
        while self._next < len(self._events):
            yield self._events[self._next][0]

    def _step(self) -> None:
        self._assigned += self._events[self._next][1]
        self._next += 1


def _events(seats: Iterable[Interval]) -> Iterator[tuple[datetime, int]]:
    for seat in seats:
        yield seat.start, 1
        if seat.end is not None:
            yield seat.end, -1
