"""Queries for one person's device sessions."""

from datetime import datetime

from django.db.models import QuerySet

from accounts.models import Account, DeviceSession


def live_of(account: Account, now: datetime) -> QuerySet[DeviceSession]:
    """Return a person's signed-in devices, newest first."""
    return account.device_sessions.filter(persistent=True, revoked_at__isnull=True, expires_at__gt=now).order_by(
        "-created_at", "-id"
    )
