"""Bars never show more than there is, nor nothing where there is something."""

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from billing.rules.bars import Bar, of_limit, share_of

ANY_SPEED = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
AMOUNTS = st.integers(0, 10**15)


@pytest.mark.parametrize(
    ("limit", "spent", "held", "bar"),
    [
        (100, 0, 0, Bar(0.0, 0.0, 0)),
        (100, 25, 50, Bar(25.0, 50.0, 75)),
        (3, 1, 1, Bar(33.33, 33.33, 66)),
        (100, 60, 60, Bar(60.0, 40.0, 120)),
        (100, 250, 10, Bar(100.0, 0.0, 260)),
        (10**12, 1, 0, Bar(0.5, 0.0, 0)),
        (0, 0, 0, Bar(100.0, 0.0, 100)),
        (0, 5, 5, Bar(100.0, 0.0, 100)),
    ],
)
def test_a_limit_and_what_is_used_of_it(limit: int, spent: int, held: int, bar: Bar) -> None:
    assert of_limit(limit, spent, held) == bar


@ANY_SPEED
@given(AMOUNTS, AMOUNTS, AMOUNTS)
def test_any_bar_can_be_drawn(limit: int, spent: int, held: int) -> None:
    bar = of_limit(limit, spent, held)
    assert 0 <= bar.spent_percent <= 100
    assert 0 <= bar.held_percent <= 100
    assert bar.spent_percent + bar.held_percent <= 101, "an edge is cut off, not drawn over"
    assert bar.is_full == (limit == 0 or spent + held >= limit)


def test_a_share_of_nothing_is_nothing() -> None:
    assert (share_of(0, 0), share_of(0, 5), share_of(5, 5), share_of(1, 10**9)) == (0.0, 0.0, 100.0, 0.5)
