"""Records who reads the folders of journals, and which of them need a person."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

from django.conf import settings
from django.db import transaction
from django.db.models import Case, F, When

from inference.models import JournalFolder
from inference.queries import journal_folders
from inference.queries.journal_folders import UNREAD_AFTER

LOGGED_AGAIN_AFTER = timedelta(hours=1)


@dataclass(frozen=True, slots=True)
class Contents:
    """What a reader found: the journals that are there, and the seconds for which the oldest dead one has waited, if any has."""

    files: int
    waiting_seconds: float | None = None


def report(folder_id: UUID, *, host: str, path: str, contents: Contents, now: datetime) -> None:
    """Record that a folder was read now. `now` is the database's time, here and below: machines compare it."""
    found = {"host": host, "path": path, "read_at": now, **_columns(contents, now)}
    # A folder that was read by nobody and is read again may be logged again.
    logged_at = Case(When(read_at__lt=now - UNREAD_AFTER, then=None), default=F("logged_at"))
    JournalFolder.objects.update_or_create(
        pk=folder_id, defaults={**found, "logged_at": logged_at}, create_defaults=found
    )


@transaction.atomic
def leave(folder_id: UUID, *, look: Callable[[], Contents], now: datetime) -> None:
    """Record what a reader leaves that ends. Of several that end at once, the last one's look counts."""
    row = JournalFolder.objects.select_for_update().filter(pk=folder_id).first()
    if row is None:
        return
    contents = look()
    if contents.files:
        JournalFolder.objects.filter(pk=folder_id).update(**_columns(contents, now))
    else:
        row.delete()


def forget(folder_id: str, *, now: datetime) -> bool:
    """Expect nothing more of a folder; return False if it does not need a person any more."""
    return bool(journal_folders.alarming(now=now).order_by().filter(pk=folder_id).update(files=0, waiting_since=None))


def settle(folder_id: UUID, *, now: datetime) -> bool:
    """Expect nothing more of a folder whose calls have all been closed; return False if it is unknown or a process reads it."""
    left = JournalFolder.objects.filter(pk=folder_id, read_at__lt=now - UNREAD_AFTER)
    return bool(left.update(files=0, waiting_since=None))


@transaction.atomic
def take_to_log(*, now: datetime) -> list[JournalFolder]:
    """Return the folders that need a person and that no process has logged within the last hour."""
    due = journal_folders.alarming(now=now).exclude(logged_at__gt=now - LOGGED_AGAIN_AFTER)
    taken = list(due.select_for_update(skip_locked=True))
    JournalFolder.objects.filter(pk__in=[row.pk for row in taken]).update(logged_at=now)
    return taken


def purge(*, now: datetime) -> int:
    """Delete the folders of which nothing can come any more: each of their calls has been decided by now. Return their number."""
    before = now - timedelta(hours=settings.REVIEW_RELEASE_HOURS) - timedelta(days=1)
    deleted, _ = JournalFolder.objects.filter(read_at__lt=before).delete()
    return deleted


def _columns(contents: Contents, now: datetime) -> dict[str, object]:
    seconds = contents.waiting_seconds
    waiting_since = None if seconds is None else now - timedelta(seconds=seconds)
    return {"files": contents.files, "waiting_since": waiting_since}
