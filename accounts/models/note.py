"""Operators' notes about customers."""

from django.db import models

from accounts.models.account import Account
from gateway.core.contract.ids import new_id

NOTE_MAX_CHARACTERS = 2000


def new_note_id() -> str:
    """Generate a `note_` id."""
    return new_id("note")


class Note(models.Model):
    """What an operator wrote about an account or an organization, for other operators: its customer never sees it.

    Never changed (`accounts/sql/notes.sql`). `owner_kind` ("account", "organization") and `owner_key` (a DID, an id) name the
    customer, as in billing. The notes about an account are deleted when it is closed.
    """

    id = models.CharField(primary_key=True, max_length=64, default=new_note_id, editable=False)
    owner_kind = models.CharField(max_length=16)
    owner_key = models.TextField()
    author = models.ForeignKey(Account, models.PROTECT, related_name="+", db_index=False)
    text = models.TextField()
    created_at = models.DateTimeField()

    class Meta:
        db_table = "accounts_note"
        constraints = [
            models.CheckConstraint(
                condition=models.Q(owner_kind__in=("account", "organization")), name="note_owner_kind_known"
            ),
        ]
        indexes = [models.Index(fields=["owner_kind", "owner_key", "-id"], name="note_newest_of_owner")]

    def __str__(self) -> str:
        return self.id
