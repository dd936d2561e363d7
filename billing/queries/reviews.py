"""Calls that wait for a decision."""

from collections.abc import Iterator
from datetime import datetime

from django.db.models import BooleanField, ExpressionWrapper, F, Q, QuerySet

from billing.models import Call, CallState
from billing.models.call import IN_REVIEW

PAGE = 500
HAS_EVIDENCE = Q(evidence__has_key="charge_microusd")
"""The delivered quantities and their cost are known."""


def waiting() -> QuerySet[Call]:
    """Find all of them, the oldest first."""
    return _waiting()


def delivered(*, looked_up: bool) -> QuerySet[Call]:
    """Find the calls that can be resolved by what was delivered; with `looked_up`, only those that an upstream was
    asked about."""
    return _waiting(looked_up).filter(HAS_EVIDENCE)


def unresolved(since: datetime, *, looked_up: bool) -> QuerySet[Call]:
    """Find the calls without evidence that were sent by `since`; `looked_up` as above."""
    # Also filtered by creation time, which is indexed: a call is sent after it was created.
    return _waiting(looked_up).filter(dispatched_at__lte=since, created_at__lte=since).exclude(HAS_EVIDENCE)


def to_look_up(now: datetime, limit: int) -> list[Call]:
    """Return the calls that are due for an upstream look-up: new ones first, those with evidence before others, then by
    due time."""
    due = _waiting().filter(Q(next_look_up_at=None) | Q(next_look_up_at__lte=now))
    has_evidence = ExpressionWrapper(HAS_EVIDENCE, BooleanField())
    turns = due.annotate(has_evidence=has_evidence).order_by(
        F("next_look_up_at").asc(nulls_first=True), F("has_evidence").desc(nulls_last=True), "created_at", "id"
    )
    return list(turns[:limit])


def one_by_one(calls: QuerySet[Call]) -> Iterator[Call]:
    """Iterate over the calls page by page, oldest first; calls that are resolved meanwhile do not shift the pages."""
    page = list(calls[:PAGE])
    while page:
        yield from page
        last = page[-1]
        is_later = Q(created_at__gt=last.created_at) | Q(id__gt=last.id)
        page = list(calls.filter(is_later, created_at__gte=last.created_at)[:PAGE])


def _waiting(looked_up: bool = False) -> QuerySet[Call]:
    calls = Call.objects.filter(IN_REVIEW, state=CallState.REVIEW).order_by("created_at", "id")
    return calls.filter(next_look_up_at__isnull=False) if looked_up else calls
