"""Percentiles and medians of what the load generator saw."""

import statistics
from collections.abc import Iterable, Sequence


def percentile(ordered: Sequence[float], percent: float) -> float:
    """Return the nearest-rank percentile of values in ascending order; NaN where there are none."""
    if not ordered:
        return float("nan")
    rank = -(-len(ordered) * percent // 100)
    return ordered[max(0, int(rank) - 1)]


def median(values: Iterable[float]) -> float:
    """Return the median; NaN where there are no values."""
    known = list(values)
    return statistics.median(known) if known else float("nan")
