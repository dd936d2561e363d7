"""Schedules repeated checks of a record that may still change."""

from datetime import timedelta

WIDENING = 8
"""A record of age x is checked again after x / 8, so that the interval grows with age."""
LOOK_UP_MIN, LOOK_UP_MAX = timedelta(minutes=1), timedelta(hours=6)


def check_interval(age: timedelta, least: timedelta, most: timedelta) -> timedelta:
    """Return how long to wait before checking a record of this age again, within these bounds."""
    return min(max(age / WIDENING, least), most)


def next_look_up(age: timedelta) -> timedelta:
    """Return how long to wait before asking the upstream again about a call that was sent `age` ago."""
    return check_interval(age, LOOK_UP_MIN, LOOK_UP_MAX)
