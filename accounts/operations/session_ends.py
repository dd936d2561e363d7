"""Ends device sessions and other grants, and records it."""

from datetime import datetime

from django.db import transaction
from django.db.models.query import QuerySet

from accounts.models import DeviceSession
from gateway.core.events.operations.in_order import Happened, record


@transaction.atomic
def end(sessions: QuerySet[DeviceSession], now: datetime) -> int:
    """End those of the sessions that have not ended; return how many. The end of each device session is recorded."""
    ending = sessions.filter(revoked_at__isnull=True).order_by("pk").select_related("account")
    ended = list(ending.select_for_update(of=("self",), no_key=True))
    if not ended:
        return 0
    count = DeviceSession.objects.filter(pk__in=[session.pk for session in ended]).update(revoked_at=now)
    record_ends(ended, now)
    return count


def record_ends(sessions: list[DeviceSession], now: datetime) -> None:
    """Record that sessions which were not revoked have ended now. Only device sessions that had not expired are mentioned."""
    record(
        [
            Happened(
                "account",
                session.account.did,
                "device_session.revoked",
                {"did": session.account.did, "deviceSessionId": session.pk},
                now=now,
            )
            for session in sessions
            if session.persistent and session.expires_at > now
        ]
    )
