"""Decides whether the provider's balance and this gateway agree on a payment, and which days are due for matching."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta

from billing.rules.provider_records import CURRENCY

OURS = re.compile(r"(txn|pay)_[0-9a-z]{26}")
"""The ids of checkouts and invoice payments. Other products sold through the account may use similar ids."""
DAY = timedelta(days=1)
READINGS = (timedelta(hours=2), timedelta(days=2))
"""When a day's movements are read, after its end: once when it is closed, and again for late entries."""
CLOCKS = timedelta(hours=1)
"""How far clocks may differ: a payment near midnight may fall on another day at the provider."""


@dataclass(frozen=True, slots=True)
class Side:
    """One side's record of a payment: the amount paid, and the amount left after refunds and disputes."""

    paid_microusd: int = 0
    kept_microusd: int = 0


@dataclass(frozen=True, slots=True)
class ProviderRecord(Side):
    """The provider's side. `currencies` are those of its movements, `payment_ref` is its id for the payment."""

    currencies: frozenset[str] = frozenset()
    payment_ref: str | None = None


@dataclass(frozen=True, slots=True)
class LocalRecord(Side):
    """Our side. `is_known`: a checkout or invoice payment with this id exists."""

    is_known: bool = False


def provider_record_of(movements: Sequence[tuple[bool, int, str, str | None]]) -> ProviderRecord:
    """Sum movements, given as (is a payment, amount in micro-USD, currency, payment id)."""
    return ProviderRecord(
        paid_microusd=sum(amount for is_payment, amount, *_ in movements if is_payment),
        kept_microusd=sum(amount for _, amount, *_ in movements),
        currencies=frozenset(currency for *_, currency, _ in movements),
        payment_ref=next((ref for *_, ref in movements if ref), None),
    )


def difference_of(theirs: ProviderRecord, ours: LocalRecord) -> str | None:
    """Return the kind of the difference; None if both sides agree, if neither side has money left, or if exactly the
    excess payment was returned.
    """
    if theirs.kept_microusd == ours.kept_microusd == 0:
        return None
    if theirs.currencies - {CURRENCY}:
        return "currency"
    if theirs.kept_microusd == ours.kept_microusd and theirs.paid_microusd >= ours.paid_microusd:
        return None
    if not ours.is_known:
        return "unknown"
    if theirs.paid_microusd == ours.paid_microusd:
        return "taken_back"
    if ours.paid_microusd == 0:
        return "not_booked"
    return "not_there" if theirs.paid_microusd == 0 else "amount"


def bounds(day: date) -> tuple[datetime, datetime]:
    """Return the UTC day's start and end."""
    start = datetime.combine(day, time(), UTC)
    return start, start + DAY


def reading_due(day: date, now: datetime) -> int:
    """Return the number of the reading of a day that is due: 0 for none, 2 if one reading serves as both."""
    return sum(now >= bounds(day)[1] + delay for delay in READINGS)
