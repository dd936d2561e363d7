"""Costs that the operator may have paid without being able to bill them."""

from django.db import models
from django.db.models import Q
from django.db.models.functions import Now

from billing.models.call import Call
from billing.models.fields import MicrousdField
from gateway.core.contract.amounts import usd


class LossKind(models.TextChoices):
    """`overrun`: an upstream reported more than the hold. `unresolved`: no evidence was found; at most the hold."""

    OVERRUN = "overrun"
    UNRESOLVED = "unresolved"


class Loss(models.Model):
    """An amount that no customer was billed for. No wallet money moves, so it is not a transfer."""

    id = models.BigAutoField(primary_key=True)
    call = models.ForeignKey(Call, models.PROTECT, related_name="losses", db_column="reservation_id", db_index=False)
    kind = models.TextField(choices=LossKind.choices)
    amount_microusd = MicrousdField()
    created_at = models.DateTimeField(db_default=Now())

    class Meta:
        db_table = "billing_loss"
        verbose_name_plural = "losses"
        constraints = [
            models.UniqueConstraint(fields=["call", "kind"], name="loss_booked_once"),
            models.CheckConstraint(condition=Q(amount_microusd__gt=0), name="loss_amount_positive"),
            models.CheckConstraint(condition=Q(kind__in=LossKind.values), name="loss_kind_known"),
        ]

    def __str__(self) -> str:
        return f"{self.kind} {self.call_id}: {usd(self.amount_microusd)}"
