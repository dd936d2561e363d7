"""Determines a job's state: whether its newest run succeeded, and whether it runs often enough."""

from datetime import datetime, timedelta
from enum import Enum

GRACE = timedelta(minutes=1)
INTERVALS_MISSED = 2
RUN_MAX = timedelta(hours=1)
"""A run without an end that is older than this has died: every job limits itself to less."""


class Status(Enum):
    """The states of a job, with their names in the console."""

    GOOD = "Good"
    RUNNING = "Running"
    NOT_YET = "Not yet run"
    FAILED = "Failed"
    UNFINISHED = "Not finished"
    OVERDUE = "Overdue"


ALARMING = (Status.FAILED, Status.UNFINISHED, Status.OVERDUE)


def is_overdue(since: datetime | None, interval: timedelta, now: datetime) -> bool:
    """Return whether a job is overdue that last ran, or was first expected, at `since`: it missed two runs in a row."""
    return since is not None and now - since > INTERVALS_MISSED * interval + GRACE


def status_of(outcome: str, seen_at: datetime, ended_at: datetime | None, interval: timedelta, now: datetime) -> Status:
    """Determine the state from the newest run and, if that is in progress, from the end of the last finished one,
    because a run may have been killed."""
    if outcome == "running":
        is_dying = now - seen_at > RUN_MAX or is_overdue(ended_at, interval, now)
        return Status.UNFINISHED if is_dying else Status.RUNNING
    if is_overdue(seen_at, interval, now):
        return Status.OVERDUE
    return Status.FAILED if outcome == "failed" else Status.GOOD
