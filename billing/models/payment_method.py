"""Payment methods that a checkout saved: how they are shown, and which of them were removed."""

from django.db import models
from django.db.models import Q

from billing.models.checkout import Checkout
from billing.models.fields import KeyField


class PaymentMethod(models.Model):
    """The payment method that a checkout saved. Without a row, nothing is known about it, and it is not removed.

    `label` describes it ("Visa ending in 4242, 12/2034"), and is deleted with it. A removed method is never charged again.
    `forgotten_at` is when the provider deleted it, too; a job asks for that until it has.
    """

    checkout = models.OneToOneField(Checkout, models.PROTECT, primary_key=True, related_name="payment_method")
    label = models.TextField(null=True, blank=True)
    removed_by = KeyField(null=True, blank=True)
    removed_at = models.DateTimeField(null=True, blank=True)
    forgotten_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        db_table = "billing_payment_method"
        constraints = [
            models.CheckConstraint(
                condition=Q(removed_at__isnull=True, forgotten_at__isnull=True)
                | Q(removed_at__isnull=False, label__isnull=True),
                name="payment_method_removed_without_label",
            ),
        ]
        indexes = [
            models.Index(
                fields=["removed_at"],
                name="payment_method_to_forget",
                condition=Q(removed_at__isnull=False, forgotten_at__isnull=True),
            ),
        ]

    def __str__(self) -> str:
        return self.label or "Payment method"
