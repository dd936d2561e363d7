"""Formats and reads times of the API: RFC 3339, in answers in UTC with `Z`."""

import re
from datetime import UTC, datetime

_RFC_3339 = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,6})?(?:Z|[+-]\d\d:\d\d)", re.ASCII)


def rfc3339(value: datetime | int) -> str:
    """Render an aware time with its precision, or Unix seconds."""
    moment = datetime.fromtimestamp(value, UTC) if isinstance(value, int) else value.astimezone(UTC)
    return moment.isoformat().replace("+00:00", "Z")


def read_rfc3339(text: str) -> datetime:
    """Return the instant in UTC, or raise ValueError. A time without an offset is ambiguous and refused."""
    written = text.upper().replace(" ", "T")
    if not _RFC_3339.fullmatch(written):
        raise ValueError("not a time of RFC 3339 section 5.6 with an offset")
    try:
        return datetime.fromisoformat(written).astimezone(UTC)
    except OverflowError as error:
        raise ValueError("before the first or after the last year in UTC") from error


def rfc3339_or_none(value: datetime | None) -> str | None:
    """Render a time that may be missing."""
    return None if value is None else rfc3339(value)
