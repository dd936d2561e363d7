"""Calls that wait for a decision."""

from datetime import datetime

from billing.models import Reservation, State


def waiting(limit: int, *, since: datetime | None = None) -> list[Reservation]:
    """Give the oldest calls in review; with `since`, only those that were sent by then."""
    calls = Reservation.objects.filter(closed_at=None, state=State.REVIEW).order_by("created_at")
    if since is not None:
        calls = calls.filter(dispatched_at__lte=since)
    return list(calls[:limit])
