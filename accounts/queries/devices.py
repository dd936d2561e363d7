"""Reads of device sessions, always of one person."""

from datetime import datetime

from django.db.models import QuerySet

from accounts.models import Account, DeviceSession


def live_of(account: Account, now: datetime) -> QuerySet[DeviceSession]:
    """List a person's devices that are signed in, the newest first."""
    return account.device_sessions.filter(persistent=True, revoked_at__isnull=True, expires_at__gt=now).order_by(
        "-created_at", "-id"
    )
