"""Percentiles by nearest rank."""

import math

from bench.figures import median, percentile


def test_percentiles_are_values_that_were_seen() -> None:
    values = [float(value) for value in range(1, 101)]
    assert [percentile(values, percent) for percent in (0, 1, 50, 99, 100)] == [1, 1, 50, 99, 100]
    assert percentile([7.0], 99) == 7


def test_nothing_seen_is_no_number() -> None:
    assert math.isnan(percentile([], 50))
    assert math.isnan(median([]))
