"""Sums of what calls earned and cost."""

from django.contrib.postgres.fields import ArrayField
from django.db import models

from billing.models.fields import KeyField, MicrousdField

LAST_CALLS = 1000
"""The number of a model's last calls whose margin is watched."""


class MarginDay(models.Model):
    """The settled calls that closed on one UTC day, of one model, product and deployment: their number, their charges in
    the ledger and their cost at the upstream; and of the calls without a known cost the number and the charges.

    Derived only from closed calls, by `billing_roll_up_usage`, which can recompute it.
    """

    id = models.BigAutoField(primary_key=True)
    closed_on = models.DateField()
    model = KeyField()
    product = KeyField(null=True)
    deployment = KeyField(null=True)
    calls = models.BigIntegerField()
    charged_microusd = MicrousdField()
    cost_microusd = MicrousdField()
    uncosted_calls = models.BigIntegerField()
    uncosted_charged_microusd = MicrousdField()

    class Meta:
        db_table = "billing_margin_day"
        verbose_name_plural = "margins"
        constraints = [
            models.UniqueConstraint(
                fields=["closed_on", "model", "product", "deployment"], name="margin_day_once", nulls_distinct=False
            )
        ]

    def __str__(self) -> str:
        return f"{self.model}, deployment {self.deployment}, closed {self.closed_on}: {self.calls} calls"


class ModelMargin(models.Model):
    """The margins of a model's last calls with a known cost, oldest first, at most `LAST_CALLS`; derived like the days.

    `negative_since` is when their sum was first seen below zero, which the operator was told; null if it is not.
    """

    model = KeyField(primary_key=True)
    margins_microusd = ArrayField(MicrousdField())
    negative_since = models.DateTimeField(null=True)

    class Meta:
        db_table = "billing_model_margin"

    def __str__(self) -> str:
        return f"{self.model}: last {len(self.margins_microusd)} calls"
