"""Dated prices."""

from django.db import models
from django.db.models.functions import Now

from billing.models.fields import KeyField


class PriceVersion(models.Model):
    """The prices of one alias (or raw model) from an instant on. Rows are never edited; triggers refuse it.

    `components` is the operator's map of component to decimal string, as `billing.rules.prices` reads it.
    """

    id = models.BigAutoField(primary_key=True)
    alias = KeyField()
    components = models.JSONField()
    effective_at = models.DateTimeField(db_default=Now())

    class Meta:
        db_table = "billing_price_version"
        verbose_name = "price"
        constraints = [models.UniqueConstraint(fields=["alias", "effective_at"], name="price_one_per_instant")]

    def __str__(self) -> str:
        return f"{self.alias} from {self.effective_at:%Y-%m-%d %H:%M:%S}"
