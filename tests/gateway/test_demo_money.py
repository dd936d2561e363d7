"""The demo writes money so that a column of it can be read at a glance."""

import pytest

from gateway.demo.money import dollars, table


@pytest.mark.parametrize(
    ("microusd", "written"),
    [
        (0, "$0.000000"),
        (1, "$0.000001"),
        (999_999, "$0.999999"),
        (5_000_000, "$5.000000"),
        (1_234_567_890_123, "$1,234,567.890123"),
        (-40, "-$0.000040"),
    ],
)
def test_dollars_are_written_to_the_micro_dollar(microusd: int, written: str) -> None:
    assert dollars(microusd) == written


def test_a_table_lines_up() -> None:
    assert table([("wallet before", 5_000_000, ""), ("charge", 40, "what it cost")]) == [
        "wallet before  $5.000000  5,000,000 micro-USD",
        "charge         $0.000040         40 micro-USD  what it cost",
    ]
