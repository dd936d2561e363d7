"""When an event is sent again to an endpoint that did not take it."""

from datetime import timedelta

PAUSES = (
    timedelta(seconds=5),
    timedelta(seconds=30),
    timedelta(minutes=5),
    timedelta(minutes=30),
    timedelta(hours=2),
    *[timedelta(hours=6)] * 12,  # three days
)
"""How long to wait after each failed attempt. After one more, the delivery has failed."""

GONE = 410
"""The status by which an endpoint says that it wants no more events."""


def pause_after(attempts: int) -> timedelta | None:
    """Return how long to wait after so many failed attempts; None: no more is made."""
    return PAUSES[attempts - 1] if attempts <= len(PAUSES) else None


def is_delivered(status: int | None) -> bool:
    """Return whether an endpoint took an event, by the status of its answer; None: it did not answer."""
    return status is not None and 200 <= status < 300
