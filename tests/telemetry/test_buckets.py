"""The histogram of durations."""

import pytest

from gateway.core.telemetry.rules.buckets import (
    BOUNDS_MICROSECONDS,
    SIZE,
    added,
    bucket_of,
    empty,
    quantile_microseconds,
)


def histogram(*microseconds: int) -> list[int]:
    counts = empty()
    for each in microseconds:
        counts[bucket_of(each)] += 1
    return counts


@pytest.mark.parametrize(
    ("microseconds", "bucket"), [(0, 0), (500, 0), (501, 1), (300_000_000, SIZE - 2), (300_000_001, SIZE - 1)]
)
def test_a_bucket_includes_its_upper_bound(microseconds: int, bucket: int) -> None:
    assert bucket_of(microseconds) == bucket


def test_histograms_are_added_bucket_by_bucket() -> None:
    assert added(histogram(1, 600), histogram(600, 10**10)) == histogram(1, 600, 600, 10**10)


@pytest.mark.parametrize(("share", "expected"), [(0.0, 0), (0.5, 500), (0.75, 750), (1.0, 1000)])
def test_a_quantile_is_interpolated_within_its_bucket(share: float, expected: int) -> None:
    assert quantile_microseconds(histogram(400, 400, 900, 900), share) == expected


def test_nothing_has_no_quantile_and_the_last_bucket_no_end() -> None:
    assert quantile_microseconds(empty(), 0.5) is None
    assert quantile_microseconds(histogram(10**10), 0.5) == BOUNDS_MICROSECONDS[-1]
