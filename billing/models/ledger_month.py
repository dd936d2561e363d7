"""Old months of the ledger that have their own tables."""

from django.db import models
from django.db.models.functions import Now


class LedgerMonth(models.Model):
    """A UTC month, identified by its first day, with its own tables for calls, usage records and transfers.

    Those tables inherit from the models' tables, so queries of the models read them too (`billing/sql/months.sql`). The
    audit checks the tables of each month; triggers refuse UPDATE and DELETE.
    """

    month = models.DateField(primary_key=True)
    created_at = models.DateTimeField(db_default=Now())

    class Meta:
        db_table = "billing_ledger_month"

    def __str__(self) -> str:
        return f"{self.month:%Y-%m}"
