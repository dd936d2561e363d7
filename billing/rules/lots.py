"""The value of a credit at an instant."""

from datetime import datetime


def is_expired(expires_at: datetime | None, now: datetime) -> bool:
    """Return whether a credit can no longer be spent, which starts at the instant it expires."""
    return expires_at is not None and expires_at <= now


def counted_microusd(remaining: int, held: int, expires_at: datetime | None, now: datetime) -> int:
    """Return the available part of a credit: what remains, or after its expiry only what open calls hold."""
    return held if is_expired(expires_at, now) else remaining
