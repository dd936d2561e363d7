"""When an upstream is asked again about a call whose outcome is not known."""

from datetime import timedelta

INTERVAL_MIN, INTERVAL_MAX = timedelta(minutes=1), timedelta(hours=6)
WIDENING = 8
"""The next look at a call of age x comes after x / 8: often while it is young, ever more seldom later."""


def next_look_up(age: timedelta) -> timedelta:
    """Return after how long the upstream is asked again about a call that was sent so long ago."""
    return min(max(age / WIDENING, INTERVAL_MIN), INTERVAL_MAX)
