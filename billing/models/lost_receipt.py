"""Receipts of calls that a failover or a restored copy of the database lost."""

from django.db import models
from django.db.models import Q
from django.db.models.functions import Now

from billing.models.fields import KeyField, MicrousdField


class LostOutcome(models.TextChoices):
    """What an operator decided. `charged`: in another way, such as an invoice. `written_off`: nobody pays for it."""

    CHARGED = "charged", "Charged otherwise"
    WRITTEN_OFF = "written_off", "Written off"


class LostReceipt(models.Model):
    """A call that was closed, and that the database does not know any more, so that its wallet has the money back.

    The process that had closed it writes the row, once for each call. `charge_microusd` is what the receipt says; null for a call
    that was left to review, with what is known of its delivery in `delivered`. It waits for an operator until it has an outcome.
    """

    usage_id = KeyField(primary_key=True)
    owner_kind = models.TextField()
    owner_key = KeyField()
    charge_microusd = MicrousdField(null=True)
    delivered = models.JSONField(null=True, blank=True)
    found_at = models.DateTimeField(db_default=Now())
    outcome = models.TextField(choices=LostOutcome.choices, null=True, blank=True)
    reason = models.TextField(blank=True, db_default="")
    resolved_by = KeyField(null=True, blank=True)
    resolved_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        db_table = "billing_lost_receipt"
        constraints = [
            models.CheckConstraint(condition=Q(outcome__in=LostOutcome.values), name="lost_receipt_outcome_known"),
            models.CheckConstraint(
                condition=Q(outcome=None, resolved_by=None, resolved_at=None)
                | Q(outcome__isnull=False, resolved_by__isnull=False, resolved_at__isnull=False),
                name="lost_receipt_is_resolved_by_somebody",
            ),
        ]

    def __str__(self) -> str:
        return self.usage_id
