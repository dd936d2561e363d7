"""Computes what a subject of a budget (everything, a product, a member, an app) has spent and holds, exactly.

A month may have a million calls, and counting must not block their wallet. Older calls are therefore counted before the
wallet is locked (`before`), and only newer ones under the lock (`total`).
"""

from collections.abc import Sequence
from datetime import UTC, date, datetime, timedelta
from typing import NamedTuple

from django.db.models import Q, QuerySet, Sum

from billing.models import Call, Transfer
from billing.rules.budgets import Subject

CLOCK_STEP = timedelta(seconds=5)
"""How far the database's clock may be set back without missing a call."""


class PastCharges(NamedTuple):
    """The charges since the day `begin` of the calls before `until`, and which of those calls are open."""

    begin: date
    until: datetime
    charged_microusd: int
    open_ids: Sequence[str]


def charges_before(subject: Subject, begin: date, at: datetime) -> PastCharges:
    """Count the calls before an instant of `locked.instant`, for `total`, and what they were charged from the day `begin`
    on. Blocks no call, however long it takes."""
    until = at - CLOCK_STEP
    charged = _charged(subject, begin, Q(created_at__lte=until))
    is_open = _calls(subject).filter(closed_at=None, created_at__lte=until)
    return PastCharges(begin, until, charged, list(is_open.values_list("id", flat=True)))


def total(subject: Subject, past: PastCharges) -> tuple[int, int]:
    """Return the charges since that day and the open holds, in micro-USD. The caller holds the wallet's lock.

    A charge never changes, and an open call can only end, so the earlier count stays valid except for calls that have
    ended since.
    """
    calls = _calls(subject).filter(closed_at=None)
    held = _sum(calls.filter(created_at__lte=past.until, id__in=past.open_ids), "hold_microusd")
    held += _sum(calls.filter(created_at__gt=past.until), "hold_microusd")
    return past.charged_microusd + _charged(subject, past.begin, Q(created_at__gt=past.until)), held


def _calls(subject: Subject) -> QuerySet[Call]:
    given = {"product": subject.product, "membership_id": subject.membership_id, "client_id": subject.client_id}
    named = {name: value for name, value in given.items() if value is not None}
    kind, key = subject.owner
    return Call.objects.filter(wallet__owner_kind=kind, wallet__owner_key=key, **named)


def _charged(subject: Subject, begin: date, when: Q) -> int:
    """Sum what the subject's calls were charged since a UTC day began, by the ledger's dates."""
    since = datetime(begin.year, begin.month, begin.day, tzinfo=UTC)
    kind, key = subject.owner
    charges = Transfer.objects.filter(when, wallet__owner_kind=kind, wallet__owner_key=key, kind="charge")
    charges = charges.filter(created_at__gte=since)
    return _sum(_calls(subject).filter(id__in=charges.values("source")), "charge_microusd")


def _sum(calls: QuerySet[Call], column: str) -> int:
    return calls.aggregate(total=Sum(column))["total"] or 0
