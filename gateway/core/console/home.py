"""The console's home page: its parts, which apps register, and the periods that they compare."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta
from typing import Any, NamedTuple

from django.http import HttpRequest

PERIOD_DAYS = 30
NAMES_MAX = 8
"""The names of a breakdown; what is beyond them is one more."""

OTHERS = "Others"
UNKNOWN = "–"  # noqa: RUF001 - an empty figure


class Days(NamedTuple):
    """The UTC days that the page compares: `today`, the last 30 days from `first`, and the 30 before from `before`."""

    today: date
    first: date
    before: date

    @classmethod
    def ending(cls, now: datetime) -> "Days":
        """Return the days of the page at an instant."""
        today = now.date()
        return cls(today, today - timedelta(days=PERIOD_DAYS - 1), today - timedelta(days=2 * PERIOD_DAYS - 1))

    @property
    def yesterday(self) -> date:
        return self.today - timedelta(days=1)

    @property
    def period(self) -> list[date]:
        """Return the last 30 days, today last."""
        return [self.first + timedelta(days=number) for number in range(PERIOD_DAYS)]


class Point(NamedTuple):
    """One day or name of a chart: what it is, its number, and the number as text."""

    name: str
    value: float
    text: str


@dataclass(frozen=True, slots=True)
class Figure:
    """A figure of today and of 30 days, each with what came before, and its chart by day.

    `change` compares the 30 days with those before ("+12.5 %"), and `is_good` says whether that is welcome, None if neither.
    """

    title: str
    today: str
    yesterday: str
    period: str
    before: str
    unit: str
    points: list[Point]
    change: str = ""
    is_good: bool | None = None
    note: str = ""
    link: str = ""


@dataclass(frozen=True, slots=True)
class Breakdown:
    """The last 30 days by name, the greatest first."""

    title: str
    unit: str
    points: list[Point]
    link: str = ""


@dataclass(frozen=True, slots=True)
class Card:
    """An amount as it is now."""

    title: str
    amount: str
    note: str
    link: str


@dataclass(frozen=True, slots=True)
class Listing:
    """A table, and what is said if it has no rows."""

    title: str
    headers: list[str]
    rows: list[list[Any]]
    empty: str
    link: str = ""


@dataclass(slots=True)
class Parts:
    """What the page shows."""

    figures: list[Figure] = field(default_factory=list)
    breakdowns: list[Breakdown] = field(default_factory=list)
    cards: list[Card] = field(default_factory=list)
    listings: list[Listing] = field(default_factory=list)

    def add(self, other: "Parts") -> None:
        """Add the parts of another."""
        self.figures += other.figures
        self.breakdowns += other.breakdowns
        self.cards += other.cards
        self.listings += other.listings


class Section(NamedTuple):
    """Parts that belong together, for whoever has one of their rights. `place` orders sections."""

    place: int
    rights: tuple[str, ...]
    build: Callable[[HttpRequest, Days, datetime], Parts]


_sections: list[Section] = []


def register(section: Section) -> None:
    """Register a section. Its function leaves out what the operator may not see."""
    _sections.append(section)
    _sections.sort(key=lambda each: each.place)


def parts(request: HttpRequest, now: datetime) -> Parts:
    """Return what this operator sees at an instant."""
    found, days = Parts(), Days.ending(now)
    for section in _sections:
        if any(map(request.user.has_perm, section.rights)):
            found.add(section.build(request, days, now))
    return found


def change(now: float | None, before: float | None) -> str:
    """Compare two numbers, such as "+12.5 %"; empty if there was nothing before."""
    if now is None or not before:
        return ""
    percent = 100 * (now - before) / abs(before)
    return f"{percent:+,.0f} %" if abs(percent) >= 100 else f"{percent:+,.1f} %"


def by_day(days: Days, values: Mapping[date, float], show: Callable[[Any], str]) -> list[Point]:
    """Return the points of the last 30 days; a day without a value has none of it."""
    return [Point(day.isoformat(), values.get(day, 0), show(values.get(day, 0))) for day in days.period]


def top(values: Mapping[str, int], show: Callable[[int], str]) -> list[Point]:
    """Return the greatest values by name, and the others as one."""
    rows = sorted(((name, value) for name, value in values.items() if value), key=lambda row: (-row[1], row[0]))
    shown, rest = rows[:NAMES_MAX], sum(value for _, value in rows[NAMES_MAX:])
    return [Point(name, value, show(value)) for name, value in [*shown, *([(OTHERS, rest)] if rest else [])]]
