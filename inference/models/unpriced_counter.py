"""Counters of upstreams' usages that have no price of their own."""

from django.db import models

from billing.models.fields import KeyField
from inference.models.upstream import Upstream


class UnpricedCounter(models.Model):
    """A counter that an upstream reported for a model, and the day (UTC) on which the operator was told of it last."""

    upstream = models.ForeignKey(Upstream, models.CASCADE, db_constraint=False, db_index=False, related_name="+")
    model = KeyField()
    counter = KeyField()
    told_on = models.DateField()

    class Meta:
        db_table = "inference_unpriced_counter"
        constraints = [
            models.UniqueConstraint(fields=["upstream", "model", "counter"], name="unpriced_counter_unique"),
        ]

    def __str__(self) -> str:
        return f"{self.counter} of {self.model}"
