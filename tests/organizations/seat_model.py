"""A second, plain implementation of seat billing: the oracle of the simulated year.

A day is looked at instant by instant, wherever something begins or ends within it; money is a fraction until its one
rounding. It shares no code with the gateway.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from decimal import ROUND_HALF_UP, Decimal
from fractions import Fraction

DAY = timedelta(days=1)
Span = tuple[datetime, datetime | None]


@dataclass
class ProductModel:
    """One organization's history with one product."""

    prices: list[tuple[datetime, int]]
    enabled: list[Span] = field(default_factory=list)
    seats: list[Span] = field(default_factory=list)
    mapped_at: datetime | None = None

    def price(self, month: datetime) -> int:
        """Return the price in force at the beginning of the month, or else the first one."""
        found = self.prices[0][1]
        for since, price in self.prices:
            if since <= month:
                found = price
        return found

    def seats_of_day(self, day: datetime) -> int:
        """Count the most seats at any instant of a day, at least one while the product is enabled."""
        if not any(_shares(span, day) for span in self.enabled):
            return 0
        instants = {day, *(start for start, _ in self.seats if day <= start < day + DAY)}
        return max(1, *(sum(_holds(span, at) for span in self.seats) for at in instants))

    def line(self, month: datetime, until: datetime | None = None) -> tuple[int, int, int] | None:
        """Return price, seat-days and cost of a month, or of its days begun by `until`; None if it is billed
        externally.
        """
        days = list(days_of(month))
        seat_days = sum(self.seats_of_day(day) for day in days if until is None or day <= until)
        if not seat_days or (self.mapped_at is not None and self.mapped_at < days[-1] + DAY):
            return None
        exact = Fraction(self.price(month) * seat_days, len(days))
        rounded = (Decimal(exact.numerator) / Decimal(exact.denominator)).quantize(Decimal(1), ROUND_HALF_UP)
        return self.price(month), seat_days, int(rounded)


def days_of(month: datetime) -> Iterator[datetime]:
    """Return the midnights at which a month's days begin."""
    day = month
    while day.month == month.month:
        yield day
        day += DAY


def months_between(start: datetime, end: datetime) -> Iterator[datetime]:
    """List the months that begin in `[start, end)`."""
    month = datetime(start.year, start.month, 1, tzinfo=UTC)
    while month < end:
        yield month
        month = (month + 31 * DAY).replace(day=1)


def invoice(products: dict[str, ProductModel], month: datetime) -> dict[str, tuple[int, int, int]] | None:
    """Return a month's lines by product, or None if nothing is due."""
    lines = {name: line for name, model in products.items() if (line := model.line(month))}
    return lines if any(price for price, _, _ in lines.values()) else None


def total(lines: Iterable[tuple[int, int, int]]) -> int:
    """Return an invoice's total."""
    return sum(cost for _, _, cost in lines)


def _shares(span: Span, day: datetime) -> bool:
    start, end = span
    return start < day + DAY and (end is None or end > day)


def _holds(span: Span, at: datetime) -> bool:
    start, end = span
    return start <= at and (end is None or at < end)
