"""Time limits of jobs."""

import time
from collections.abc import Callable


def deadline(seconds: float) -> Callable[[], bool]:
    """Return a function that returns whether `seconds` have passed since now."""
    end = time.monotonic() + seconds
    return lambda: time.monotonic() > end
