"""Calls that another model took over from the requested one."""

from django.db import models
from django.db.models.functions import Now

from billing.models.call import Call
from billing.models.fields import KeyField
from billing.models.price_version import PriceVersion


class Takeover(models.Model):
    """The model that took a call over, and the price version that replaces the call's own.

    The call's hold covers both prices. Rows never change; the audit prices their calls by them.
    """

    call = models.OneToOneField(
        Call, models.PROTECT, primary_key=True, related_name="takeover", db_column="reservation_id", db_constraint=False
    )
    model = KeyField()
    price_version = models.ForeignKey(PriceVersion, models.DO_NOTHING, db_index=False, db_constraint=False)
    created_at = models.DateTimeField(db_default=Now())

    class Meta:
        db_table = "billing_takeover"

    def __str__(self) -> str:
        return f"{self.call_id}: {self.model}"
