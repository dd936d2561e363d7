"""Invoices of an organization's seats for a month."""

from django.db import models
from django.db.models import F, Q
from django.db.models.functions import Now

from billing.models.fields import KeyField, MicrousdField
from billing.rules.invoices import number_of


class InvoiceStatus(models.TextChoices):
    """draft → open | paid | void; open → paid | past_due | void; past_due → paid | void. Paid and void are final.

    A draft has no number and is not owed.
    """

    DRAFT = "draft"
    OPEN = "open"
    PAST_DUE = "past_due"
    PAID = "paid"
    VOID = "void"


UNPAID = (InvoiceStatus.OPEN, InvoiceStatus.PAST_DUE)


class Invoice(models.Model):
    """The seats of one UTC month, `[period_start, period_end)`. Its content never changes; only its status advances.

    `total_microusd` is the sum of its lines, `due_microusd` the whole cents of it that are collected. `serial` is
    assigned in the transaction that issues the invoice, consecutively without gaps. `next_attempt_at` is when the saved
    payment method is charged next, null if no automatic attempt is planned. `issue_recorded_at` and `end_recorded_at`
    are the database's times of issue, and of payment or voiding; triggers set them.
    """

    id = KeyField(primary_key=True)
    org_id = KeyField()
    serial = models.BigIntegerField(null=True, blank=True)
    status = models.TextField(choices=InvoiceStatus.choices, default=InvoiceStatus.DRAFT)
    period_start = models.DateTimeField()
    period_end = models.DateTimeField()
    total_microusd = MicrousdField()
    due_microusd = MicrousdField()
    created_at = models.DateTimeField(db_default=Now())
    issued_at = models.DateTimeField(null=True, blank=True)
    paid_at = models.DateTimeField(null=True, blank=True)
    voided_at = models.DateTimeField(null=True, blank=True)
    void_reason = models.TextField(null=True, blank=True)
    next_attempt_at = models.DateTimeField(null=True, blank=True)
    issue_recorded_at = models.DateTimeField(null=True, editable=False)
    end_recorded_at = models.DateTimeField(null=True, editable=False)

    class Meta:
        db_table = "billing_invoice"
        constraints = [
            models.UniqueConstraint(
                fields=["org_id", "period_start"], condition=~Q(status="void"), name="invoice_one_per_month"
            ),
            models.UniqueConstraint(fields=["serial"], name="invoice_one_per_serial"),
            models.CheckConstraint(condition=Q(status__in=InvoiceStatus.values), name="invoice_status_known"),
            models.CheckConstraint(
                condition=Q(status="void", serial__isnull=True, issued_at__isnull=True)
                | Q(status="draft", serial__isnull=True, issued_at__isnull=True)
                | (~Q(status="draft") & Q(serial__isnull=False, issued_at__isnull=False)),
                name="invoice_serial_once_issued",
            ),
            models.CheckConstraint(
                condition=Q(paid_at__isnull=True) ^ Q(status="paid"), name="invoice_paid_has_its_time"
            ),
            models.CheckConstraint(
                condition=Q(status="void", voided_at__isnull=False, void_reason__isnull=False)
                | (~Q(status="void") & Q(voided_at__isnull=True, void_reason__isnull=True)),
                name="invoice_void_has_a_reason",
            ),
            models.CheckConstraint(
                condition=Q(due_microusd__gte=0, due_microusd__lte=F("total_microusd")),
                name="invoice_due_within_total",
            ),
            models.CheckConstraint(
                condition=Q(next_attempt_at__isnull=True) | Q(status__in=UNPAID), name="invoice_attempts_while_unpaid"
            ),
        ]
        indexes = [
            models.Index(fields=["org_id", "-period_start"], name="invoice_of_organization"),
            models.Index(
                fields=["next_attempt_at"], name="invoice_to_collect", condition=Q(next_attempt_at__isnull=False)
            ),
            models.Index(fields=["issued_at"], name="invoice_unpaid", condition=Q(status="open")),
            models.Index(fields=["org_id"], name="invoice_past_due", condition=Q(status="past_due")),
            models.Index(fields=["period_start", "org_id"], name="invoice_drafts", condition=Q(status="draft")),
        ]

    def __str__(self) -> str:
        return self.number or f"Draft {self.period_start:%Y-%m}"

    @property
    def number(self) -> str | None:
        """Return the number under which it was issued; None if it never was."""
        return None if self.serial is None else number_of(self.serial)


class InvoiceLine(models.Model):
    """One product's seats of the month; never changed, and added only to a draft."""

    id = models.BigAutoField(primary_key=True)
    invoice = models.ForeignKey(Invoice, models.PROTECT, related_name="lines", db_index=False)
    product = KeyField()
    price_microusd = MicrousdField()
    seat_days = models.IntegerField()
    amount_microusd = MicrousdField()

    class Meta:
        db_table = "billing_invoice_line"
        ordering = ("product",)
        constraints = [
            models.UniqueConstraint(fields=["invoice", "product"], name="invoice_line_one_per_product"),
            models.CheckConstraint(
                condition=Q(price_microusd__gte=0, amount_microusd__gte=0, seat_days__gt=0), name="invoice_line_min"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.product}: {self.seat_days} seat-days"
