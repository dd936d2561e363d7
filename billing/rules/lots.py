"""What a credit is worth at an instant."""

from datetime import datetime


def is_expired(expires_at: datetime | None, now: datetime) -> bool:
    """Return whether a credit can no longer be spent; that is the case from the moment it expires."""
    return expires_at is not None and expires_at <= now


def counted_microusd(remaining: int, held: int, expires_at: datetime | None, now: datetime) -> int:
    """Return what still counts of a credit: all that remains, and once expired what open calls hold of it."""
    return held if is_expired(expires_at, now) else remaining
