"""Dollars of people, exact micro-USD of the gateway."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from account_gateway_client.cli.money import dollars_of, microusd_of

GOOD = {
    "0.05": 50_000,
    "$0.05": 50_000,
    "1": 1_000_000,
    "1.": 1_000_000,
    ".5": 500_000,
    "0.000001": 1,
    "0.1": 100_000,
    "999.999999": 999_999_999,
    "1000": 1_000_000_000,
    "0": 0,
}
BAD = [
    "",
    "-1",
    "+1",
    "1e-3",
    "0.0000001",
    "0.1000000",
    "1,50",
    "1 000",
    "nan",
    "inf",
    "0x1",
    "\u0665",
    "1.2.3",
    ".",
    "$",
    "1$",
]


@pytest.mark.parametrize(("dollars", "microusd"), GOOD.items())
def test_reads_dollars_exactly(dollars: str, microusd: int) -> None:
    assert microusd_of(dollars) == microusd


@pytest.mark.parametrize("dollars", BAD)
def test_refuses_what_is_no_exact_amount(dollars: str) -> None:
    with pytest.raises(ValueError):
        microusd_of(dollars)


@given(st.integers(0, 10**15 - 1))
def test_writes_what_it_reads(microusd: int) -> None:
    assert microusd_of(dollars_of(microusd).replace(",", "")) == microusd


def test_writes_two_decimals_at_least() -> None:
    assert [dollars_of(amount) for amount in (0, 1, -50_000, 1_234_500_000)] == [
        "$0.00",
        "$0.000001",
        "-$0.05",
        "$1,234.50",
    ]
