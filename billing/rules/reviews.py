"""When to ask an upstream again about a call with an unknown outcome."""

from datetime import timedelta

from billing.rules.looks import next_look

INTERVAL_MIN, INTERVAL_MAX = timedelta(minutes=1), timedelta(hours=6)


def next_look_up(age: timedelta) -> timedelta:
    """Return after how long the upstream is asked again about a call that was sent so long ago."""
    return next_look(age, INTERVAL_MIN, INTERVAL_MAX)
