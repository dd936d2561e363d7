"""How a job stands: whether its newest run succeeded, and whether it runs as often as it should."""

from datetime import datetime, timedelta
from enum import Enum

GRACE = timedelta(minutes=1)
INTERVALS_MISSED = 2
RUN_MAX = timedelta(hours=1)
"""A run without an end that is older than this did not finish: every job limits itself to less."""


class Standing(Enum):
    """The states of a job, as the console names them."""

    GOOD = "Good"
    RUNNING = "Running"
    NOT_YET = "Not yet run"
    FAILED = "Failed"
    UNFINISHED = "Not finished"
    OVERDUE = "Overdue"


ALARMING = (Standing.FAILED, Standing.UNFINISHED, Standing.OVERDUE)


def is_overdue(since: datetime | None, interval: timedelta, now: datetime) -> bool:
    """Return whether a job is late that last ran, or was first expected, at `since`: it missed two runs in a row."""
    return since is not None and now - since > INTERVALS_MISSED * interval + GRACE


def standing_of(
    outcome: str, seen_at: datetime, ended_at: datetime | None, interval: timedelta, now: datetime
) -> Standing:
    """Judge a job by its newest run; one under way, also by when a run last came to its end: each may be killed."""
    if outcome == "running":
        is_dying = now - seen_at > RUN_MAX or is_overdue(ended_at, interval, now)
        return Standing.UNFINISHED if is_dying else Standing.RUNNING
    if is_overdue(seen_at, interval, now):
        return Standing.OVERDUE
    return Standing.FAILED if outcome == "failed" else Standing.GOOD
