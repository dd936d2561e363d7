"""Seat billing: seat-days and exact money."""

from datetime import UTC, date, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from organizations.rules.seat_billing import Interval, billable_seats, days_of_month, month_cost_microusd

PRICE = 20_000_000
NOVEMBER = days_of_month(date(2026, 11, 1))


ALWAYS = [Interval(datetime(2026, 1, 1, tzinfo=UTC))]


def seat_days(enabled: list[Interval], seats: list[Interval], days: list[date]) -> int:
    return sum(billable_seats(enabled, seats, days).values())


def at(day: int, hour: int = 0, month: int = 11) -> datetime:
    return datetime(2026, month, day, hour, tzinfo=UTC)


@pytest.mark.parametrize("seats", [1, 2, 7, 1000])
@pytest.mark.parametrize("month", range(1, 13))
def test_seats_all_month_cost_exactly_their_price(seats: int, month: int) -> None:
    days = days_of_month(date(2026, month, 1))
    assigned = [Interval(datetime(2026, 1, 1, tzinfo=UTC))] * seats
    assert month_cost_microusd(PRICE, seat_days(ALWAYS, assigned, days), len(days)) == seats * PRICE


def test_an_enabled_product_without_seats_counts_one() -> None:
    assert seat_days(ALWAYS, [], NOVEMBER) == 30


def test_a_day_enabled_for_an_hour_counts_whole() -> None:
    assert seat_days([Interval(at(3, 10), at(3, 11))], [], NOVEMBER) == 1


def test_a_product_disabled_at_midnight_does_not_count_that_day() -> None:
    assert seat_days([Interval(at(3), at(4))], [], NOVEMBER) == 1


def test_seats_that_follow_each_other_are_not_two_at_once() -> None:
    relay = [Interval(at(3, hour), at(3, hour + 1)) for hour in range(10)]
    assert seat_days([Interval(at(3), at(4))], relay, NOVEMBER) == 1


def test_the_peak_of_a_day_counts() -> None:
    both = [Interval(at(3, 8), at(3, 12)), Interval(at(3, 11), at(3, 14)), Interval(at(3, 20), at(3, 21))]
    assert seat_days([Interval(at(3), at(4))], both, NOVEMBER) == 2


def test_a_seat_counts_on_every_day_it_touches() -> None:
    seats = [Interval(at(3, 23), at(5, 1)), Interval(at(4, 12), at(4, 13))]
    assert seat_days([Interval(at(3), at(6))], seats, NOVEMBER) == 1 + 2 + 1


def test_rounds_half_up_once() -> None:
    assert month_cost_microusd(1, 15, 30) == 1
    assert month_cost_microusd(1, 14, 30) == 0
    assert month_cost_microusd(15_000_000, 7, 31) == 3_387_097


OFFSETS = st.integers(0, 31 * 24)


@given(st.lists(st.tuples(OFFSETS, OFFSETS), max_size=12))
def test_agrees_with_counting_every_hour(spans: list[tuple[int, int]]) -> None:
    start = at(1)
    seats = [Interval(start + timedelta(hours=a), start + timedelta(hours=b)) for a, b in spans if a < b]

    def peak(day: int) -> int:
        hours = [start + timedelta(days=day, hours=hour) for hour in range(24)]
        return max(sum(seat.overlaps(hour, hour + timedelta(hours=1)) for seat in seats) for hour in hours)

    assert seat_days(ALWAYS, seats, NOVEMBER) == sum(max(1, peak(day)) for day in range(30))
