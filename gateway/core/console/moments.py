"""Times of the console's timelines: exact moments in UTC, and distances from a beginning."""

from datetime import UTC, datetime, timedelta

from django.utils.timesince import timesince


def moment(at: datetime) -> str:
    """Render a time in UTC with milliseconds, such as `2026-11-27 15:20:00.123`."""
    return f"{at.astimezone(UTC):%Y-%m-%d %H:%M:%S.%f}"[:-3]


def after(start: datetime, microseconds: int) -> datetime:
    """Return the time so many microseconds after a start."""
    return start + timedelta(microseconds=microseconds)


def lasted(microseconds: int) -> str:
    """Render a duration: in milliseconds with one decimal below a second, else in seconds or minutes."""
    if abs(microseconds) < 1_000_000:
        return f"{microseconds / 1000:.1f} ms"
    seconds = microseconds / 1_000_000
    if abs(seconds) < 600:
        return f"{seconds:.3f} s"
    return f"{seconds / 60:,.1f} min"


def elapsed(start: datetime, now: datetime, *, depth: int = 2) -> str:
    """Render how long ago a start is in at most `depth` units, such as `5 hours, 2 minutes`; it is never "0 minutes"."""
    return timesince(start, now, depth=depth) if now - start >= timedelta(minutes=1) else "less than a minute"


def offset(microseconds: int) -> str:
    """Render a distance from the beginning, such as `+12.3 ms`; a minus sign if clocks disagree."""
    return f"{'+' if microseconds >= 0 else '−'}{lasted(abs(microseconds))}"  # noqa: RUF001 (a minus sign)


def between(start: datetime, end: datetime) -> int:
    """Return the microseconds from a start to an end."""
    return (end - start) // timedelta(microseconds=1)
