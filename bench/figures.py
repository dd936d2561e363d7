"""Percentiles and medians of the load generator's samples."""

import statistics
from collections.abc import Iterable, Sequence


def percentile(ordered: Sequence[float], percent: float) -> float:
    """Return the nearest-rank percentile of values in ascending order; NaN if there are none."""
    if not ordered:
        return float("nan")
    rank = -(-len(ordered) * percent // 100)
    return ordered[max(0, int(rank) - 1)]


def median(values: Iterable[float]) -> float:
    """Return the median; NaN if there are no values."""
    known = list(values)
    return statistics.median(known) if known else float("nan")
