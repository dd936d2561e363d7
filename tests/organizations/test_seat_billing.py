"""Seat billing: seat-days and exact money."""

from datetime import UTC, date, datetime, timedelta

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from billing.rules.seat_prices import price_of_month
from organizations.rules.seat_billing import (
    Intervals,
    SeatMonth,
    billable_seats,
    days_of_month,
    microseconds,
    month_cost_microusd,
)
from tests.organizations.seat_model import DAY, ProductModel, Span, days_of

PRICE = 20_000_000
NOVEMBER = days_of_month(date(2026, 11, 1))
MICROSECOND = timedelta(microseconds=1)


def intervals(*spans: Span) -> Intervals:
    starts = sorted(microseconds(start) for start, _ in spans)
    return Intervals(starts, sorted(microseconds(end) for _, end in spans if end is not None))


ALWAYS = intervals((datetime(2026, 1, 1, tzinfo=UTC), None))


def seat_days(enabled: Intervals, seats: Intervals, days: list[date]) -> int:
    return sum(billable_seats(enabled, seats, days).values())


def at(day: int, hour: int = 0, month: int = 11) -> datetime:
    return datetime(2026, month, day, hour, tzinfo=UTC)


@pytest.mark.parametrize("seats", [1, 2, 7, 1000])
@pytest.mark.parametrize("month", range(1, 13))
def test_seats_all_month_cost_exactly_their_price(seats: int, month: int) -> None:
    days = days_of_month(date(2026, month, 1))
    assigned = intervals(*[(datetime(2026, 1, 1, tzinfo=UTC), None)] * seats)
    assert month_cost_microusd(PRICE, seat_days(ALWAYS, assigned, days), len(days)) == seats * PRICE


def test_an_enabled_product_without_seats_counts_one() -> None:
    assert seat_days(ALWAYS, Intervals(), NOVEMBER) == 30


def test_a_day_enabled_for_an_hour_counts_whole() -> None:
    assert seat_days(intervals((at(3, 10), at(3, 11))), Intervals(), NOVEMBER) == 1


def test_a_product_disabled_at_midnight_does_not_count_that_day() -> None:
    assert seat_days(intervals((at(3), at(4))), Intervals(), NOVEMBER) == 1


def test_seats_that_follow_each_other_are_not_two_at_once() -> None:
    relay = intervals(*[(at(3, hour), at(3, hour + 1)) for hour in range(10)])
    assert seat_days(intervals((at(3), at(4))), relay, NOVEMBER) == 1


def test_the_peak_of_a_day_counts() -> None:
    both = intervals((at(3, 8), at(3, 12)), (at(3, 11), at(3, 14)), (at(3, 20), at(3, 21)))
    assert seat_days(intervals((at(3), at(4))), both, NOVEMBER) == 2


def test_a_seat_counts_on_every_day_it_touches() -> None:
    seats = intervals((at(3, 23), at(5, 1)), (at(4, 12), at(4, 13)))
    assert seat_days(intervals((at(3), at(6))), seats, NOVEMBER) == 1 + 2 + 1


def test_rounds_half_up_once() -> None:
    assert month_cost_microusd(1, 15, 30) == 1
    assert month_cost_microusd(1, 14, 30) == 0
    assert month_cost_microusd(15_000_000, 7, 31) == 3_387_097


def test_a_seat_of_a_microsecond_counts_only_on_its_day() -> None:
    last = at(3) + DAY - MICROSECOND
    blink = intervals((last, last + MICROSECOND), (last, None))
    assert billable_seats(ALWAYS, blink, NOVEMBER[2:4]) == {date(2026, 11, 3): 2, date(2026, 11, 4): 1}


# Months of every length, at the turn of a year, and at the limits of dates.
MONTHS = [(2027, 2), (2028, 2), (2000, 2), (2026, 4), (2026, 12), (2027, 1), (9999, 11), (1, 2)]


@st.composite
def instants(draw: st.DrawFn, month: datetime) -> datetime:
    """Draw an instant in or near a month, mostly at midnight, a microsecond before or after, or in the same second as
    others.
    """
    day = month + draw(st.integers(-3, 34)) * DAY
    beside = draw(st.sampled_from([timedelta(0), timedelta(0), -MICROSECOND, MICROSECOND, timedelta(hours=12)]))
    return day + (draw(st.timedeltas(timedelta(0), DAY)) if draw(st.booleans()) else beside)


@st.composite
def months_of_a_product(draw: st.DrawFn) -> tuple[ProductModel, datetime]:
    """Draw an organization's history with a product around a month, with prices that change at any time."""
    month = datetime(*draw(st.sampled_from(MONTHS)), 1, tzinfo=UTC)
    spans = st.tuples(instants(month), st.none() | instants(month)).filter(
        lambda span: span[1] is None or span[0] < span[1]
    )
    prices = st.lists(st.tuples(instants(month), st.integers(0, 10**12)), min_size=1, max_size=3)
    return (
        ProductModel(
            prices=sorted(draw(prices)),
            enabled=draw(st.lists(spans, max_size=3)),
            seats=draw(st.lists(spans, max_size=12)),
        ),
        month,
    )


@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])  # a slow machine must not fail the test
@given(months_of_a_product())
def test_agrees_with_looking_at_every_instant(drawn: tuple[ProductModel, datetime]) -> None:
    model, month = drawn
    days = days_of_month(month.date())
    price = price_of_month(model.prices, month)
    found = SeatMonth("studio", price, False, intervals(*model.enabled), intervals(*model.seats), days)
    plainly = {day.date(): model.seats_of_day(day) for day in days_of(month)}
    assert found.billable_seats == plainly
    line = model.line(month) or (model.price(month), 0, 0)
    assert (found.price_microusd, found.seat_days(), found.cost_microusd()) == line
    for today in days:
        assert found.seat_days(today) == sum(count for day, count in plainly.items() if day <= today)
