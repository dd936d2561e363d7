"""Writes operators' notes about customers, and deletes those about a closed account."""

from datetime import datetime

from django.db import transaction

from accounts.models import Account, Note

Owner = tuple[str, str]


class NoteConflict(Exception):
    """The id belongs to another note."""


@transaction.atomic
def add(*, note_id: str, owner: Owner, author: Account, text: str, now: datetime) -> bool:
    """Write a note about an account or an organization, once for its id; return whether it is new.

    Raises NoteConflict if another note has the id.
    """
    kind, key = owner
    note, is_new = Note.objects.get_or_create(
        pk=note_id,
        defaults={"owner_kind": kind, "owner_key": key, "author": author, "text": text, "created_at": now},
    )
    if (note.owner_kind, note.owner_key, note.author_id, note.text) != (kind, key, author.pk, text):
        raise NoteConflict(note_id)
    return is_new


def forget(account: Account) -> None:
    """Delete the notes about an account, in the transaction that closes it."""
    Note.objects.filter(owner_kind="account", owner_key=account.did).delete()
