"""The waits of a start: none is silent for long, and all end as soon as the gateway is to stop."""

import time
from collections.abc import Callable

QUIET_SECONDS = 2.5


class Stopped(Exception):
    """Says that the gateway was told to stop while it started."""


def _tell_nobody(text: str) -> None:
    """Stand for somebody who reads what is waited for."""


def _never() -> bool:
    return False


class Patience:
    """Tells what a start waits for whenever nothing was said for QUIET_SECONDS. By default nobody is told."""

    def __init__(self, tell: Callable[[str], None] = _tell_nobody, is_stopping: Callable[[], bool] = _never) -> None:
        self._tell, self._is_stopping = tell, is_stopping
        self._told_at = time.monotonic()

    def tell(self, text: str) -> None:
        """Print what begins."""
        self._tell(text)
        self.begin()

    def begin(self) -> None:
        """Begin to wait for something else."""
        self._told_at = time.monotonic()

    def check(self, awaited: str, ahead_seconds: float = 0.0) -> None:
        """Print what is still awaited, if it is time, or will be before the next check, which is `ahead_seconds` away. Raises Stopped
        if the gateway is to stop."""
        if self._is_stopping():
            raise Stopped
        if time.monotonic() - self._told_at > QUIET_SECONDS - ahead_seconds:
            self.tell(f"  still {awaited} ...")
