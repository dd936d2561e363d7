"""Folders of journals that need a person: nobody reads them, or what is in them cannot be closed."""

from datetime import datetime, timedelta
from uuid import UUID

from django.db.models import Q, QuerySet

from inference.models import JournalFolder

UNREAD_AFTER = timedelta(seconds=60)
"""Readers report every 10 seconds. A folder of which none was heard for so long is read by nobody."""

WAITING_AFTER = timedelta(minutes=10)
"""How long a dead process's journal may wait. One whose hold the ledger does not know waits for five minutes."""


def unread(*, now: datetime) -> Q:
    """Return the condition of folders with journals that nobody reads."""
    return Q(files__gt=0, read_at__lt=now - UNREAD_AFTER)


def waiting(*, now: datetime) -> Q:
    """Return the condition of folders with journals that are read, and cannot be closed."""
    return Q(waiting_since__lt=now - WAITING_AFTER, read_at__gte=now - UNREAD_AFTER)


def alarming(*, now: datetime) -> QuerySet[JournalFolder]:
    """Return the folders that need a person."""
    return JournalFolder.objects.filter(unread(now=now) | waiting(now=now)).order_by("read_at", "id")


def is_read(folder_id: UUID, *, now: datetime) -> bool:
    """Return whether a process reads the folder."""
    return JournalFolder.objects.filter(pk=folder_id, read_at__gte=now - UNREAD_AFTER).exists()
