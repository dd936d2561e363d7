"""Closed accounts."""

from django.db import models

from accounts.models.account import Account


class Closing(models.Model):
    """Says that an account was closed, which is never undone (`accounts/sql/closed_accounts.sql`).

    The account's row stays, because the ledger names its DID, with nothing personal in it. `erased_at` is when the last of what
    was stored for the person elsewhere was deleted; null while a job is still to do so.
    """

    account = models.OneToOneField(Account, models.PROTECT, primary_key=True, related_name="closing")
    closed_at = models.DateTimeField()
    erased_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        db_table = "accounts_closing"
        indexes = [
            models.Index(fields=["closed_at"], name="closing_to_erase", condition=models.Q(erased_at__isnull=True)),
        ]

    def __str__(self) -> str:
        return f"{self.account_id} at {self.closed_at:%Y-%m-%d %H:%M:%S}"
