"""UTC calendar months, by which use is counted and seats are billed."""

import re
from datetime import UTC, date, datetime

Month = tuple[datetime, datetime]
"""A UTC calendar month, half-open."""

_NAME = re.compile(r"([0-9]{4})-(0[1-9]|1[0-2])", re.ASCII)


def month_around(now: datetime) -> tuple[datetime, datetime]:
    """Return the UTC calendar month that an instant is in, half-open."""
    first = now.astimezone(UTC).date().replace(day=1)
    return _midnight(first), _midnight(_next_month(first))


def month_before(now: datetime) -> tuple[datetime, datetime]:
    """Return the UTC calendar month before the one that an instant is in."""
    end, _ = month_around(now)
    year, month = (end.year, end.month - 1) if end.month > 1 else (end.year - 1, 12)
    return datetime(year, month, 1, tzinfo=UTC), end


def name_of(month: Month) -> str:
    """Return the name of a month in addresses and file names, such as `2026-11`."""
    start, _ = month
    return f"{start.year:04}-{start.month:02}"


def read_month(name: str) -> Month:
    """Return the month of a name such as `2026-11`, or raise ValueError."""
    match = _NAME.fullmatch(name)
    if match is None:
        raise ValueError("a month is named by year and month, such as 2026-11")
    return month_around(datetime(int(match[1]), int(match[2]), 1, tzinfo=UTC))


def months_since(first: datetime, now: datetime, most: int) -> list[Month]:
    """List the months from the one that contains `first` to the current one, newest first, at most `most`."""
    found, month = [month_around(now)], month_around(now)
    while month[0] > first and len(found) < most:
        month = month_before(month[0])
        found.append(month)
    return found


def _next_month(first: date) -> date:
    return date(first.year + first.month // 12, first.month % 12 + 1, 1)


def _midnight(day: date) -> datetime:
    return datetime(day.year, day.month, day.day, tzinfo=UTC)
