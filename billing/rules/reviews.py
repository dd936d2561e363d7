"""Schedules look-ups of a call with an unknown outcome."""

from datetime import timedelta

from billing.rules.check_intervals import check_interval

INTERVAL_MIN, INTERVAL_MAX = timedelta(minutes=1), timedelta(hours=6)


def next_look_up(age: timedelta) -> timedelta:
    """Return how long to wait before asking the upstream again about a call that was sent `age` ago."""
    return check_interval(age, INTERVAL_MIN, INTERVAL_MAX)
