"""Calls that wait for a decision."""

from collections.abc import Iterator
from datetime import datetime

from django.db.models import BooleanField, ExpressionWrapper, F, Q, QuerySet

from billing.models import Reservation, State
from billing.models.reservation import IN_REVIEW

PAGE = 500
HAS_EVIDENCE = Q(evidence__has_key="charge_microusd")
"""It is known what was delivered, and what that costs."""


def delivered(*, looked_up: bool) -> QuerySet[Reservation]:
    """Find the calls that what was delivered can resolve; with `looked_up`, only those that an upstream was asked
    about."""
    return _waiting(looked_up).filter(HAS_EVIDENCE)


def unresolved(since: datetime, *, looked_up: bool) -> QuerySet[Reservation]:
    """Find the calls that were sent by `since` and are without evidence; `looked_up` as above."""
    # Also by their age, which the index has: a call is sent after it was made.
    return _waiting(looked_up).filter(dispatched_at__lte=since, created_at__lte=since).exclude(HAS_EVIDENCE)


def to_look_up(now: datetime, limit: int) -> list[Reservation]:
    """Return calls that an upstream is to be asked about: first the new ones, evidence before none, then by their
    turn."""
    due = _waiting().filter(Q(next_look_up_at=None) | Q(next_look_up_at__lte=now))
    has_evidence = ExpressionWrapper(HAS_EVIDENCE, BooleanField())
    turns = due.annotate(has_evidence=has_evidence).order_by(
        F("next_look_up_at").asc(nulls_first=True), F("has_evidence").desc(nulls_last=True), "created_at", "id"
    )
    return list(turns[:limit])


def one_by_one(calls: QuerySet[Reservation]) -> Iterator[Reservation]:
    """Return the calls, oldest first, reading a page at a time; what is resolved meanwhile moves no page."""
    page = list(calls[:PAGE])
    while page:
        yield from page
        last = page[-1]
        is_later = Q(created_at__gt=last.created_at) | Q(id__gt=last.id)
        page = list(calls.filter(is_later, created_at__gte=last.created_at)[:PAGE])


def _waiting(looked_up: bool = False) -> QuerySet[Reservation]:
    calls = Reservation.objects.filter(IN_REVIEW, state=State.REVIEW).order_by("created_at", "id")
    return calls.filter(next_look_up_at__isnull=False) if looked_up else calls
