"""Suspends accounts and lets them back in. A suspended account's tokens are refused from that instant."""

from datetime import datetime

from accounts.models import Account


def suspend(*, did: str, now: datetime) -> bool:
    """Suspend an account; False where it is suspended already, or does not exist."""
    return bool(Account.objects.filter(did=did, suspended_at=None).update(suspended_at=now))


def unsuspend(*, did: str) -> bool:
    """Let an account back in; False where it was not suspended, or does not exist."""
    return bool(Account.objects.filter(did=did, suspended_at__isnull=False).update(suspended_at=None))
