"""Which old months of the ledger have tables of their own."""

from django.db import models
from django.db.models.functions import Now


class LedgerMonth(models.Model):
    """A UTC month, named by its first day, that `billing_reservation`, `billing_usage_record` and `billing_transfer` have tables for.

    Those tables inherit from these models' own, so a query of the models reads them too (`billing/sql/months.sql`). The audit
    looks for the tables of each month; triggers refuse UPDATE and DELETE.
    """

    month = models.DateField(primary_key=True)
    created_at = models.DateTimeField(db_default=Now())

    class Meta:
        db_table = "billing_ledger_month"

    def __str__(self) -> str:
        return f"{self.month:%Y-%m}"
