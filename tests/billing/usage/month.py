"""Calls around the ends of days and months, and what reports must say of them, computed without SQL."""

from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, timedelta
from itertools import combinations_with_replacement
from typing import Any

from billing.rules.usage_reports import Use
from tests.factories.billing import Purse, release, settle

TICK = timedelta(microseconds=1)
JANUARY, FEBRUARY, MARCH, APRIL = (datetime(2024, number, 1, tzinfo=UTC) for number in range(1, 5))
LEAP_DAY = datetime(2024, 2, 29, tzinfo=UTC)
MONTHS = ((JANUARY, FEBRUARY), (FEBRUARY, MARCH), (MARCH, APRIL))

INSTANTS = (
    JANUARY + timedelta(days=9, hours=7),
    FEBRUARY - TICK,
    FEBRUARY,
    FEBRUARY + TICK,
    LEAP_DAY - TICK,
    LEAP_DAY,
    LEAP_DAY + timedelta(hours=12),
    MARCH - TICK,
    MARCH,
    APRIL - TICK,
)
SUBJECTS = (("studio", "mem_1", "did:web:a"), (None, "mem_1", "did:web:a"), ("courier", "mem_2", "did:web:b"))
MODELS = ("fast", "deep")
APPS = ("https://notes.example", "https://studio.example", None)


@dataclass(frozen=True)
class Call:
    """A call as it was made; `closed_at` is None while it is open, `charge` None where it is not charged."""

    begun_at: datetime
    closed_at: datetime | None
    product: str | None
    member: str
    did: str
    model: str
    app: str | None
    charge: int | None

    @property
    def is_released(self) -> bool:
        return self.closed_at is not None and self.charge is None

    def use_in(self, start: datetime, end: datetime) -> Use:
        """Return what the call adds to a report of `[start, end)`."""
        begun = start <= self.begun_at < end and not self.is_released
        tokens = (self.charge or 0) * 20 // 3 if self.charge is not None else 0
        charged = self.charge is not None and self.closed_at is not None and start <= self.closed_at < end
        return Use(int(begun), tokens if begun else 0, 0, (self.charge or 0) if charged else 0)


def scenario() -> Iterator[Call]:
    """Make a call for each pair of instants, some of them free, released or open still."""
    for number, (begun_at, closed_at) in enumerate(combinations_with_replacement(INSTANTS, 2)):
        product, member, did = SUBJECTS[number % 3]
        app, charge = APPS[number % 4 % 3], 0 if number % 7 == 6 else number + 1
        call = Call(begun_at, closed_at, product, member, did, MODELS[number % 2], app, charge)
        yield call
        if number % 5 == 0:
            yield replace(call, charge=None)
        if number % 11 == 0:
            yield replace(call, charge=None, closed_at=None)


def make(purse: Purse, calls: list[Call]) -> list[str]:
    """Book the calls, each at its own time; return their ids."""
    return [_book(purse, call) for call in calls]


def _book(purse: Purse, call: Call) -> str:
    usage_id = purse.call(
        1000,
        product=call.product,
        membership_id=call.member,
        did=call.did,
        model=call.model,
        client_id=call.app,
        now=call.begun_at,
    )
    if call.closed_at is not None and call.charge is None:
        release(usage_id, now=call.closed_at)
    elif call.closed_at is not None:
        settle(usage_id, call.charge or 0, now=call.closed_at)
    return usage_id


def expected(calls: list[Call], start: datetime, end: datetime, by: Callable[[Call], Any]) -> dict[Any, Use]:
    """Add the calls up by a key; keys to which nothing was added are left out."""
    sums: dict[Any, Use] = defaultdict(Use)
    for call in calls:
        if (use := call.use_in(start, end)) != Use():
            sums[by(call)] += use
    return dict(sums)


def days_of(start: datetime, end: datetime) -> list[date]:
    """List the days of a month."""
    return [(start + timedelta(days=number)).date() for number in range((end - start).days)]
