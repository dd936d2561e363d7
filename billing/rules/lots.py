"""What a credit is worth at an instant."""

from datetime import datetime


def is_expired(expires_at: datetime | None, now: datetime) -> bool:
    """Say whether a credit can no longer be spent; it is so from the very instant of its expiry."""
    return expires_at is not None and expires_at <= now


def counted_microusd(remaining: int, held: int, expires_at: datetime | None, now: datetime) -> int:
    """Give what still counts of a credit: all that remains, and once expired what open calls hold of it."""
    return held if is_expired(expires_at, now) else remaining
