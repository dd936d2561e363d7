"""When a record that may still change is looked at again."""

from datetime import timedelta

WIDENING = 8
"""The next look at a record of age x comes after x / 8: often while it is young, less and less often later."""


def next_look(age: timedelta, least: timedelta, most: timedelta) -> timedelta:
    """Return after how long a record of this age is looked at again, within these bounds."""
    return min(max(age / WIDENING, least), most)
