"""How long a job's run may take."""

import time
from collections.abc import Callable


def deadline(seconds: float) -> Callable[[], bool]:
    """Return what says whether so many seconds have passed since now."""
    end = time.monotonic() + seconds
    return lambda: time.monotonic() > end
