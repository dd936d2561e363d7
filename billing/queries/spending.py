"""Computes what a subject of an organization (everything, a product, a member) has spent and holds, exactly.

A month may have a million calls, and counting must not block their wallet. Older calls are therefore counted before the
wallet is locked (`before`), and only newer ones under the lock (`total`).
"""

from collections.abc import Sequence
from datetime import UTC, date, datetime, timedelta
from typing import NamedTuple

from django.db.models import Q, QuerySet, Sum

from billing.models import Call, Transfer
from billing.rules.owners import Owner

CLOCK_STEP = timedelta(seconds=5)
"""How far the database's clock may be set back without missing a call."""


class Subject(NamedTuple):
    """Whose calls count, and from which month on their charges count; None: any."""

    owner: Owner
    product: str | None
    membership_id: str | None
    month: date


class PastCharges(NamedTuple):
    """The charges of the calls before `until`, and which of those calls are open."""

    until: datetime
    charged_microusd: int
    open_ids: Sequence[str]


def charges_before(subject: Subject, at: datetime) -> PastCharges:
    """Count the calls before an instant of `locked.instant`, for `total`. Blocks no call, however long it takes."""
    until = at - CLOCK_STEP
    charged = _charged(subject, Q(created_at__lte=until))
    is_open = _calls(subject).filter(closed_at=None, created_at__lte=until)
    return PastCharges(until, charged, list(is_open.values_list("id", flat=True)))


def total(subject: Subject, past: PastCharges) -> tuple[int, int]:
    """Return the charges since the month began and the open holds, in micro-USD. The caller holds the wallet's lock.

    A charge never changes, and an open call can only end, so the earlier count stays valid except for calls that have
    ended since.
    """
    calls = _calls(subject).filter(closed_at=None)
    held = _sum(calls.filter(created_at__lte=past.until, id__in=past.open_ids), "hold_microusd")
    held += _sum(calls.filter(created_at__gt=past.until), "hold_microusd")
    return past.charged_microusd + _charged(subject, Q(created_at__gt=past.until)), held


def _calls(subject: Subject) -> QuerySet[Call]:
    given = {"product": subject.product, "membership_id": subject.membership_id}
    named = {name: value for name, value in given.items() if value is not None}
    kind, key = subject.owner
    return Call.objects.filter(wallet__owner_kind=kind, wallet__owner_key=key, **named)


def _charged(subject: Subject, when: Q) -> int:
    """Sum what the subject's calls were charged since the month began, by the ledger's dates."""
    begin = datetime(subject.month.year, subject.month.month, subject.month.day, tzinfo=UTC)
    kind, key = subject.owner
    charges = Transfer.objects.filter(when, wallet__owner_kind=kind, wallet__owner_key=key, kind="charge")
    charges = charges.filter(created_at__gte=begin)
    return _sum(_calls(subject).filter(id__in=charges.values("source")), "charge_microusd")


def _sum(calls: QuerySet[Call], column: str) -> int:
    return calls.aggregate(total=Sum(column))["total"] or 0
