"""When a mail that could not be sent is tried again."""

from datetime import timedelta

PAUSES = (*(timedelta(minutes=minutes) for minutes in (1, 5, 15, 60, 180)), *[timedelta(hours=6)] * 11)
"""The pauses after each attempt, three days in all. An alert that is older than that helps nobody."""


def pause_after(attempts: int) -> timedelta | None:
    """Return the pause after so many attempts, or None where that was the last one."""
    return PAUSES[attempts - 1] if attempts <= len(PAUSES) else None
