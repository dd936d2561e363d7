"""The histogram of durations: a fixed list of buckets, so that the sums of hours, processes and models can be added."""

from bisect import bisect_left
from collections.abc import Sequence

BOUNDS_MICROSECONDS = (
    *(500, 1_000, 2_000, 5_000, 10_000, 20_000, 50_000, 100_000, 200_000, 500_000),
    *(1_000_000, 2_000_000, 5_000_000, 10_000_000, 20_000_000, 30_000_000, 60_000_000, 120_000_000, 300_000_000),
)
"""The upper, inclusive bound of each bucket; a last one has what is longer. The stored arrays depend on this list."""

SIZE = len(BOUNDS_MICROSECONDS) + 1


def bucket_of(microseconds: int) -> int:
    """Return the index of a duration's bucket."""
    return bisect_left(BOUNDS_MICROSECONDS, microseconds)


def empty() -> list[int]:
    """Return a histogram of nothing."""
    return [0] * SIZE


def added(first: Sequence[int], second: Sequence[int]) -> list[int]:
    """Return the sum of two histograms."""
    return [one + other for one, other in zip(first, second, strict=True)]


def quantile_microseconds(counts: Sequence[int], share: float) -> int | None:
    """Estimate the duration that `share` (0 to 1) of the counted ones do not exceed, None if nothing was counted.

    It is interpolated within its bucket; of the last one, which has no end, the lower bound is returned.
    """
    wanted = share * sum(counts)
    before = 0
    for index, count in enumerate(counts):
        if count and before + count >= wanted:
            return _interpolated(index, (wanted - before) / count)
        before += count
    return None


def _interpolated(index: int, part: float) -> int:
    lower = BOUNDS_MICROSECONDS[index - 1] if index else 0
    upper = BOUNDS_MICROSECONDS[index] if index < len(BOUNDS_MICROSECONDS) else lower
    return round(lower + (upper - lower) * max(part, 0.0))
