"""What a subject of an organization (everything, a product, a member) has spent and holds, exactly.

A month may have a million calls, and counting must not block its wallet. So older calls are counted before the wallet
is locked (`before`), and only newer ones under the lock (`total`).
"""

from collections.abc import Sequence
from datetime import UTC, date, datetime, timedelta
from typing import NamedTuple

from django.db.models import Q, QuerySet, Sum

from billing.models import Reservation, Transfer
from billing.rules.owners import Owner

CLOCK_STEP = timedelta(seconds=5)
"""How far the database's clock may be put back without a call being missed."""


class Subject(NamedTuple):
    """Whose calls count, and since which month their charges do; None: any."""

    owner: Owner
    product: str | None
    membership_id: str | None
    month: date


class Past(NamedTuple):
    """What is known of the calls before `until`: what they were charged, and which of them are open."""

    until: datetime
    charged_microusd: int
    open_ids: Sequence[str]


def before(subject: Subject, at: datetime) -> Past:
    """Count what is old at an instant of `locked.instant`, for `total`. It blocks nobody, however long it takes."""
    until = at - CLOCK_STEP
    charged = _charged(subject, Q(created_at__lte=until))
    is_open = _calls(subject).filter(closed_at=None, created_at__lte=until)
    return Past(until, charged, list(is_open.values_list("id", flat=True)))


def total(subject: Subject, past: Past) -> tuple[int, int]:
    """Return what was spent since the month began and what is held, in micro-USD. The caller holds the wallet's lock.

    A charge is never changed, and an open call at most ends, so what was counted before still holds, but for the calls
    that have ended since.
    """
    calls = _calls(subject).filter(closed_at=None)
    held = _sum(calls.filter(created_at__lte=past.until, id__in=past.open_ids), "hold_microusd")
    held += _sum(calls.filter(created_at__gt=past.until), "hold_microusd")
    return past.charged_microusd + _charged(subject, Q(created_at__gt=past.until)), held


def _calls(subject: Subject) -> QuerySet[Reservation]:
    given = {"product": subject.product, "membership_id": subject.membership_id}
    named = {name: value for name, value in given.items() if value is not None}
    kind, key = subject.owner
    return Reservation.objects.filter(wallet__owner_kind=kind, wallet__owner_key=key, **named)


def _charged(subject: Subject, when: Q) -> int:
    """Sum what the subject's calls were charged since the month began, by the ledger's dates."""
    begin = datetime(subject.month.year, subject.month.month, subject.month.day, tzinfo=UTC)
    kind, key = subject.owner
    charges = Transfer.objects.filter(when, wallet__owner_kind=kind, wallet__owner_key=key, kind="charge")
    charges = charges.filter(created_at__gte=begin)
    return _sum(_calls(subject).filter(id__in=charges.values("source")), "charge_microusd")


def _sum(calls: QuerySet[Reservation], column: str) -> int:
    return calls.aggregate(total=Sum(column))["total"] or 0
