"""Dated costs."""

from django.db import models
from django.db.models.functions import Now

from billing.models.fields import KeyField


class CostVersion(models.Model):
    """What an upstream charges the operator for calls of one deployment from an instant on. Rows are never edited;
    triggers refuse it.

    `deployment` is the id that calls name, and `components` a price in the operator's form; empty if the cost is not known
    from then on.
    """

    id = models.BigAutoField(primary_key=True)
    deployment = KeyField()
    components = models.JSONField()
    effective_at = models.DateTimeField(db_default=Now())

    class Meta:
        db_table = "billing_cost_version"
        verbose_name = "cost"
        constraints = [models.UniqueConstraint(fields=["deployment", "effective_at"], name="cost_one_per_instant")]

    def __str__(self) -> str:
        return f"deployment {self.deployment} from {self.effective_at:%Y-%m-%d %H:%M:%S}"
