"""UTC calendar months, by which use is counted and seats are billed."""

from datetime import UTC, date, datetime


def month_around(now: datetime) -> tuple[datetime, datetime]:
    """Return the UTC calendar month that an instant is in, half-open."""
    first = now.astimezone(UTC).date().replace(day=1)
    return _midnight(first), _midnight(_next_month(first))


def month_before(now: datetime) -> tuple[datetime, datetime]:
    """Return the UTC calendar month before the one that an instant is in."""
    end, _ = month_around(now)
    year, month = (end.year, end.month - 1) if end.month > 1 else (end.year - 1, 12)
    return datetime(year, month, 1, tzinfo=UTC), end


def _next_month(first: date) -> date:
    return date(first.year + first.month // 12, first.month % 12 + 1, 1)


def _midnight(day: date) -> datetime:
    return datetime(day.year, day.month, day.day, tzinfo=UTC)
