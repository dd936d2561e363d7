"""Attempts to collect an invoice."""

from django.db import models
from django.db.models import Q
from django.db.models.functions import Now

from billing.models.fields import KeyField, MicrousdField
from billing.models.invoice import Invoice


class InvoicePaymentStatus(models.TextChoices):
    """creating → processing | succeeded | failed | review; processing and review may change likewise. Succeeded and
    failed are final.

    `review`: the provider's record has another amount, currency, mode or payment than requested.
    """

    CREATING = "creating"
    PROCESSING = "processing"
    SUCCEEDED = "succeeded"
    FAILED = "failed"
    REVIEW = "review"


PENDING = (InvoicePaymentStatus.CREATING, InvoicePaymentStatus.PROCESSING, InvoicePaymentStatus.REVIEW)


class InvoicePayment(models.Model):
    """One off-session charge of a saved payment method. Its id is the provider's idempotency key.

    The row is committed with the whole request before the provider is called, so that the request can be repeated
    exactly. `failure_code` is the provider's (`card_declined`, `authentication_required`). `requested_by` is the person
    who requested the attempt, null for the schedule. `next_check_at` is when the provider is queried again.
    `end_recorded_at` is the database's time of its end; a trigger sets it.
    """

    id = KeyField(primary_key=True)
    invoice = models.ForeignKey(Invoice, models.PROTECT, related_name="payments")
    amount_microusd = MicrousdField()
    provider = KeyField()
    is_live = models.BooleanField()
    customer_ref = KeyField()
    method_ref = KeyField()
    requested_by = KeyField(null=True, blank=True)
    payment_ref = KeyField(null=True, blank=True)
    status = models.TextField(choices=InvoicePaymentStatus.choices, default=InvoicePaymentStatus.CREATING)
    failure_code = models.TextField(null=True, blank=True)
    failure_reason = models.TextField(null=True, blank=True)
    created_at = models.DateTimeField(db_default=Now())
    checked_at = models.DateTimeField(null=True, blank=True)
    next_check_at = models.DateTimeField(null=True, blank=True)
    end_recorded_at = models.DateTimeField(null=True, editable=False)

    class Meta:
        db_table = "billing_invoice_payment"
        constraints = [
            models.UniqueConstraint(
                fields=["invoice"], condition=~Q(status="failed"), name="invoice_payment_one_at_a_time"
            ),
            models.UniqueConstraint(fields=["provider", "payment_ref"], name="invoice_payment_one_per_charge"),
            models.CheckConstraint(
                condition=Q(status__in=InvoicePaymentStatus.values), name="invoice_payment_status_known"
            ),
            models.CheckConstraint(
                condition=Q(status="failed") ^ Q(failure_code__isnull=True) | Q(status="review"),
                name="invoice_payment_failed_has_a_code",
            ),
            models.CheckConstraint(
                condition=Q(status__in=("creating", "failed")) | Q(payment_ref__isnull=False),
                name="invoice_payment_has_its_charge",
            ),
            models.CheckConstraint(condition=Q(amount_microusd__gt=0), name="invoice_payment_amount_min"),
        ]
        indexes = [
            models.Index(
                fields=["next_check_at"], name="invoice_payment_due", condition=Q(next_check_at__isnull=False)
            ),
        ]

    def __str__(self) -> str:
        return f"{self.id}: {self.status}"
