"""Payments on which the provider's balance and this gateway do not agree."""

from django.db import models
from django.db.models.functions import Now

from billing.models.fields import KeyField, MicrousdField


class DifferenceKind(models.TextChoices):
    """Which side lacks what."""

    UNKNOWN = "unknown", "Unknown here"
    NOT_BOOKED = "not_booked", "Not booked here"
    NOT_THERE = "not_there", "Not at the provider"
    TAKEN_BACK = "taken_back", "Refund or dispute differs"
    AMOUNT = "amount", "Amount differs"
    CURRENCY = "currency", "Not in US dollars"


class PaymentDifference(models.Model):
    """A difference that the match found for one payment; never changed. It is open until it has a closing.

    `paid` is the amount paid in, `kept` what is left after refunds and disputes: at the provider (`their_`) and in our
    checkout or invoice payment (`our_`). `recorded_at` is the database's time of recording; a trigger sets it.
    """

    id = models.BigAutoField(primary_key=True)
    provider = KeyField()
    is_live = models.BooleanField()
    transaction_id = KeyField()
    payment_ref = KeyField(null=True, blank=True)
    kind = models.TextField(choices=DifferenceKind.choices)
    their_paid_microusd = MicrousdField()
    their_kept_microusd = MicrousdField()
    our_paid_microusd = MicrousdField()
    our_kept_microusd = MicrousdField()
    found_at = models.DateTimeField()
    recorded_at = models.DateTimeField(null=True, editable=False)

    class Meta:
        db_table = "billing_payment_difference"
        indexes = [models.Index(fields=["transaction_id"], name="payment_difference_of_payment")]

    def __str__(self) -> str:
        return f"{self.transaction_id}: {self.get_kind_display().lower()}"


class DifferenceClosing(models.Model):
    """How a difference ended, once: automatically (`closed_by` null) or by an operator with a reason. Never changed.

    `recorded_at` is the database's time of recording; a trigger sets it.
    """

    id = models.BigAutoField(primary_key=True)
    difference = models.OneToOneField(PaymentDifference, models.PROTECT, related_name="closing")
    reason = models.TextField()
    closed_by = KeyField(null=True, blank=True)
    closed_at = models.DateTimeField(db_default=Now())
    recorded_at = models.DateTimeField(null=True, editable=False)

    class Meta:
        db_table = "billing_difference_closing"

    def __str__(self) -> str:
        return self.reason
