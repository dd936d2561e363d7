"""Whether the provider's balance and this gateway agree on a payment, and which days are to be matched."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta

from billing.rules.provider_records import CURRENCY

OURS = re.compile(r"(txn|pay)_[0-9a-z]{26}")
"""The ids of checkouts and of attempts to collect invoices. What else an account sells may name its own ids alike."""
DAY = timedelta(days=1)
READINGS = (timedelta(hours=2), timedelta(days=2))
"""How long after a day's end its movements are read: once it is closed, and again for what was entered late."""
CLOCKS = timedelta(hours=1)
"""How far our clock may be from the provider's: a payment near midnight may be of another day there."""


@dataclass(frozen=True, slots=True)
class Side:
    """One side's record of a payment: what came in, and what is left after refunds and disputes."""

    paid_microusd: int = 0
    kept_microusd: int = 0


@dataclass(frozen=True, slots=True)
class Theirs(Side):
    """The provider's side; `currencies` are those of its movements, `payment_ref` its id of the payment."""

    currencies: frozenset[str] = frozenset()
    payment_ref: str | None = None


@dataclass(frozen=True, slots=True)
class Ours(Side):
    """Our side. `is_known`: there is a checkout or an invoice's payment of that id."""

    is_known: bool = False


def theirs_of(movements: Sequence[tuple[bool, int, str, str | None]]) -> Theirs:
    """Sum up movements, each with whether it is a payment, its amount in micro-USD, its currency and payment."""
    return Theirs(
        paid_microusd=sum(amount for is_payment, amount, *_ in movements if is_payment),
        kept_microusd=sum(amount for _, amount, *_ in movements),
        currencies=frozenset(currency for *_, currency, _ in movements),
        payment_ref=next((ref for *_, ref in movements if ref), None),
    )


def difference_of(theirs: Theirs, ours: Ours) -> str | None:
    """Name the kind of the difference; None where both agree, where nothing is left of the money on either side, or where
    exactly what came in beyond the payment went back.
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
    """Return which reading of a day is due by now: 0 for none yet, 2 where one does for both."""
    return sum(now >= bounds(day)[1] + delay for delay in READINGS)
