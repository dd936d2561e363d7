"""Slopes of samples over time, with their noise: Theil and Sen's estimator, which single outliers do not move."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from statistics import NormalDist, median

CONFIDENCE = 0.99
SAMPLES_MIN = 8
"""With fewer samples, the interval is wider than all slopes between two of them."""


@dataclass(frozen=True, slots=True)
class Slope:
    """Change per unit of x: the median of the slopes between any two samples, and its confidence interval."""

    value: float
    low: float
    high: float


def theil_sen(xs: Sequence[float], ys: Sequence[float], confidence: float = CONFIDENCE) -> Slope | None:
    """Estimate a slope; None if there are too few samples.

    The interval follows from Kendall's rank statistic without a trend, with its correction for equal values (Sen 1968). It assumes
    that the samples' deviations from the line are independent of each other.
    """
    pairs = [(b[1] - a[1]) / (b[0] - a[0]) for a, b in combinations(zip(xs, ys, strict=True), 2) if a[0] != b[0]]
    if len(xs) < SAMPLES_MIN or not pairs:
        return None
    pairs.sort()
    spread = NormalDist().inv_cdf(0.5 + confidence / 2) * math.sqrt(_variance(ys))
    last = len(pairs) - 1
    low = max(0, math.floor((len(pairs) - spread) / 2))
    high = min(last, math.ceil((len(pairs) + spread) / 2))
    return Slope(median(pairs), pairs[low], pairs[high])


def _variance(ys: Sequence[float]) -> float:
    """Return the variance of Kendall's statistic for values without a trend."""
    ties = [ys.count(value) for value in set(ys)]
    return (_term(len(ys)) - sum(map(_term, ties))) / 18


def _term(count: int) -> int:
    return count * (count - 1) * (2 * count + 5)
