"""Percentiles and medians of the load generator's samples."""

import math
import statistics
from collections.abc import Iterable, Sequence

NORMAL_95 = 1.96


def percentile(ordered: Sequence[float], percent: float) -> float:
    """Return the nearest-rank percentile of values in ascending order; NaN if there are none."""
    if not ordered:
        return float("nan")
    rank = -(-len(ordered) * percent // 100)
    return ordered[max(0, int(rank) - 1)]


def middle(values: Iterable[float]) -> tuple[float, float]:
    """Return between which of the values the median of all that could have been measured lies, 95 times of 100.

    That is so whatever the distribution is, as each value is above its median or not, like a coin. NaN if there are none.
    """
    ordered = sorted(values)
    if not ordered:
        return float("nan"), float("nan")
    below = max(0, math.floor((len(ordered) - NORMAL_95 * math.sqrt(len(ordered))) / 2) - 1)
    return ordered[below], ordered[-below - 1]


def median(values: Iterable[float]) -> float:
    """Return the median; NaN if there are no values."""
    known = list(values)
    return statistics.median(known) if known else float("nan")
