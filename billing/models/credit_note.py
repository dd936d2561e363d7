"""Credit notes: corrections of paid invoices."""

from django.db import models
from django.db.models import Q
from django.db.models.functions import Now

from billing.models.fields import KeyField, MicrousdField
from billing.models.invoice import Invoice
from billing.rules.invoices import credit_number_of


class CreditNote(models.Model):
    """Returns part or all of a paid invoice; never changed. Notes have their own number series, without gaps.

    A refund (`is_refund`) goes to the payment method that was charged, and an operator makes it at the provider. Any
    other note is a credit in the organization's wallet, whose ledger source is this note's id.
    """

    id = KeyField(primary_key=True)
    invoice = models.ForeignKey(Invoice, models.PROTECT, related_name="credit_notes")
    serial = models.BigIntegerField()
    amount_microusd = MicrousdField()
    is_refund = models.BooleanField(default=False, db_default=False)
    reason = models.TextField()
    created_by = KeyField()
    created_at = models.DateTimeField(db_default=Now())

    class Meta:
        db_table = "billing_credit_note"
        constraints = [
            models.UniqueConstraint(fields=["serial"], name="credit_note_one_per_serial"),
            models.CheckConstraint(condition=Q(amount_microusd__gt=0), name="credit_note_amount_min"),
        ]

    def __str__(self) -> str:
        return self.number

    @property
    def number(self) -> str:
        return credit_number_of(self.serial)
