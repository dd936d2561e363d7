"""A credit: money with a source, and optionally an expiry and a product."""

from django.db import models
from django.db.models import ExpressionWrapper, F, Q
from django.db.models.functions import Now

from billing.models.fields import KeyField, MicrousdField
from billing.models.wallet import Wallet
from gateway.core.contract.amounts import usd


class CreditLot(models.Model):
    """One grant of credit; `remaining` = granted - spent - expired, `held` is the part that open calls may spend.

    An expired lot cannot be spent from that instant on, but amounts held earlier still pay for their calls. `closed_at`
    is set once nothing remains. `(source_kind, source_key)` makes a grant happen once.
    """

    id = KeyField(primary_key=True)
    wallet = models.ForeignKey(Wallet, models.PROTECT, related_name="lots", db_index=False)
    product = KeyField(null=True, blank=True)
    granted_microusd = MicrousdField()
    remaining_microusd = MicrousdField()
    held_microusd = MicrousdField(db_default=0)
    expires_at = models.DateTimeField(null=True, blank=True)
    source_kind = models.TextField()
    source_key = KeyField()
    created_at = models.DateTimeField(db_default=Now())
    closed_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        db_table = "billing_credit_lot"
        verbose_name = "credit"
        permissions = [("grant_small_creditlot", "Can grant credits within the limit of support")]
        constraints = [models.UniqueConstraint(fields=["source_kind", "source_key"], name="lot_one_per_source")]
        indexes = [
            # In spending order, so that a hold reads no more credits than it takes.
            models.Index(
                F("wallet"),
                ExpressionWrapper(Q(product__isnull=True), models.BooleanField()),
                F("expires_at"),
                F("id"),
                name="lot_open",
                condition=Q(closed_at__isnull=True),
            ),
            models.Index(
                fields=["expires_at"],
                name="lot_expiring",
                condition=Q(closed_at__isnull=True, expires_at__isnull=False),
            ),
        ]

    def __str__(self) -> str:
        return f"{self.id}: {usd(self.remaining_microusd)} of {usd(self.granted_microusd)}"
