"""The months that an owner's usage can be shown of."""

from dataclasses import dataclass
from datetime import datetime

from billing.queries import usage
from billing.rules.months import Month, months_since, name_of, read_month
from billing.rules.owners import Owner

MONTHS_MAX = 120


@dataclass(frozen=True, slots=True)
class Choice:
    """The months on offer, the newest first, and the one that is shown: None where another one was asked for."""

    offered: list[Month]
    month: Month | None

    @property
    def name(self) -> str:
        """Return the shown month's name in addresses, such as `2026-11`; empty where there is none."""
        return name_of(self.month) if self.month else ""

    @property
    def names(self) -> list[tuple[str, datetime]]:
        """Pair the name of each month on offer with its first instant."""
        return [(name_of(month), month[0]) for month in self.offered]

    @property
    def is_current(self) -> bool:
        """Return whether the month is still running."""
        return self.month == self.offered[0]


def choose(owner: Owner, asked: str | None, now: datetime) -> Choice:
    """Choose the month of that name, the current one where none is asked for.

    Months are on offer from the one of the owner's first call on, so that no address reads a month at random.
    """
    offered = months_since(_first_call_at(owner) or now, now, MONTHS_MAX)
    if asked is None:
        return Choice(offered, offered[0])
    try:
        month = read_month(asked)
    except ValueError:
        return Choice(offered, None)
    return Choice(offered, month if month in offered else None)


def _first_call_at(owner: Owner) -> datetime | None:
    """Read when the owner's first call began off the index of a wallet's calls."""
    return usage.of_owner(owner).order_by("created_at").values_list("created_at", flat=True).first()
