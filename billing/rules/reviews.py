"""Schedules look-ups of a call with an unknown outcome."""

from datetime import timedelta

from billing.rules.looks import next_look

INTERVAL_MIN, INTERVAL_MAX = timedelta(minutes=1), timedelta(hours=6)


def next_look_up(age: timedelta) -> timedelta:
    """Return how long to wait before asking the upstream again about a call that was sent `age` ago."""
    return next_look(age, INTERVAL_MIN, INTERVAL_MAX)
