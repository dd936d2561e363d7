"""The months for which an owner's usage can be shown."""

from dataclasses import dataclass
from datetime import datetime

from billing.queries import usage
from billing.rules.months import Month, months_since, name_of, read_month
from billing.rules.owners import Owner

MONTHS_MAX = 120


@dataclass(frozen=True, slots=True)
class Choice:
    """The selectable months, newest first, and the selected one: None if the requested month is not selectable."""

    offered: list[Month]
    month: Month | None

    @property
    def name(self) -> str:
        """Return the selected month's name in addresses, such as `2026-11`; empty if there is none."""
        return name_of(self.month) if self.month else ""

    @property
    def names(self) -> list[tuple[str, datetime]]:
        """Pair the name of each selectable month with its first instant."""
        return [(name_of(month), month[0]) for month in self.offered]

    @property
    def is_current(self) -> bool:
        return self.month == self.offered[0]


def choose(owner: Owner, requested: str | None, now: datetime) -> Choice:
    """Select the month with this name, or the current one if none is given.

    Only months since the owner's first call are selectable, so that a request cannot read arbitrary months.
    """
    offered = months_since(_first_call_at(owner) or now, now, MONTHS_MAX)
    if requested is None:
        return Choice(offered, offered[0])
    try:
        month = read_month(requested)
    except ValueError:
        return Choice(offered, None)
    return Choice(offered, month if month in offered else None)


def _first_call_at(owner: Owner) -> datetime | None:
    """Read the start of the owner's first call from the index of a wallet's calls."""
    return usage.of_owner(owner).order_by("created_at").values_list("created_at", flat=True).first()
