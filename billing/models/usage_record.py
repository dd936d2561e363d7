"""Usage of settled calls."""

from django.db import models
from django.db.models.functions import Now

from billing.models.call import Call
from billing.models.cost_version import CostVersion
from billing.models.fields import KeyField, MicrousdField
from gateway.core.contract.amounts import usd


class UsageRecord(models.Model):
    """The metered quantities and the charge of one settled call; null if a quantity was not metered.

    `cache_write_tokens` were written to the upstream's prompt cache, `cache_write_1h_tokens` of them for an hour.
    `service_tier` (null: the default) and `price_band` (the threshold that the input exceeded, null below all) say which
    prices of the version apply. `basis` says whose count it is: the upstream's own, the part delivered before a stream
    broke, or the operator's. `cost_microusd` is what the upstream charges the operator for all this at `cost_version`; both
    are null if that is not known. No caller ever sees them.
    """

    call = models.OneToOneField(
        Call,
        models.PROTECT,
        primary_key=True,
        related_name="usage_record",
        db_column="reservation_id",
        db_constraint=False,
    )
    input_tokens = models.BigIntegerField(null=True)
    cached_input_tokens = models.BigIntegerField(null=True)
    cache_write_tokens = models.BigIntegerField(null=True)
    cache_write_1h_tokens = models.BigIntegerField(null=True)
    output_tokens = models.BigIntegerField(null=True)
    input_audio_tokens = models.BigIntegerField(null=True)
    output_audio_tokens = models.BigIntegerField(null=True)
    images = models.BigIntegerField(null=True)
    input_characters = models.BigIntegerField(null=True)
    seconds = models.BigIntegerField(null=True)
    input_bytes = models.BigIntegerField(null=True)
    items = models.BigIntegerField(null=True)
    service_tier = KeyField(null=True)
    price_band = models.BigIntegerField(null=True)
    charge_microusd = MicrousdField()
    basis = models.TextField()
    settled_at = models.DateTimeField(db_default=Now())
    cost_microusd = MicrousdField(null=True)
    cost_version = models.ForeignKey(CostVersion, models.DO_NOTHING, null=True, db_index=False, db_constraint=False)

    class Meta:
        db_table = "billing_usage_record"
        verbose_name_plural = "usage"

    def __str__(self) -> str:
        return f"{self.call_id}: {usd(self.charge_microusd)}"
