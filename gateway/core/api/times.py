"""Formats times of the API: RFC 3339 in UTC with `Z`."""

from datetime import UTC, datetime


def rfc3339(value: datetime | int) -> str:
    """Render an aware time with its precision, or Unix seconds."""
    moment = datetime.fromtimestamp(value, UTC) if isinstance(value, int) else value.astimezone(UTC)
    return moment.isoformat().replace("+00:00", "Z")


def rfc3339_or_none(value: datetime | None) -> str | None:
    """Render a time that may be missing."""
    return None if value is None else rfc3339(value)
