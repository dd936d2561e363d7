"""Time limits of jobs."""

import time
from collections.abc import Callable

CLOCK = getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC)
"""A clock that nobody sets; on Linux one that also counts the time for which the machine was suspended."""


def deadline(seconds: float) -> Callable[[], bool]:
    """Return a function that returns whether `seconds` have passed since now."""
    end = time.clock_gettime(CLOCK) + seconds
    return lambda: time.clock_gettime(CLOCK) > end
