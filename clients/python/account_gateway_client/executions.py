"""Following what the gateway executes until it is over."""

import time
from collections.abc import Callable, Iterator
from typing import Any, TypeVar

POLL_SECONDS = 1.0
ACTIVE = frozenset({"queued", "running", "cancelling"})

Execution = TypeVar("Execution", bound=Any)


def followed(read: Callable[[], Execution], poll_seconds: float) -> Iterator[Execution]:
    """Yield an execution each time it is asked for, the last time when it is over."""
    while True:
        found = read()
        yield found
        if is_over(found):
            return
        time.sleep(poll_seconds)


def finished(read: Callable[[], Execution], poll_seconds: float) -> Execution:
    """Wait until an execution is over, and return it."""
    *_, latest = followed(read, poll_seconds)
    return latest


def is_over(execution: Any) -> bool:
    """Return whether an execution is over."""
    return execution["status"] not in ACTIVE
