"""Movements of the payment provider's balance."""

from django.db import models

from billing.models.fields import KeyField, MicrousdField
from gateway.core.contract.amounts import usd


class ProviderMovement(models.Model):
    """One movement of the balance for one of our payments: paid in (`is_payment`), taken back (negative), or returned.
    Never changed.

    `ref` is the provider's id of it; `transaction_id` the checkout or invoice payment that the provider stores with the
    payment, whether or not such a row exists here. `recorded_at` is the database's time of recording; a trigger sets
    it.
    """

    id = models.BigAutoField(primary_key=True)
    provider = KeyField()
    is_live = models.BooleanField()
    ref = KeyField()
    transaction_id = KeyField()
    payment_ref = KeyField(null=True, blank=True)
    is_payment = models.BooleanField()
    amount_microusd = MicrousdField()
    currency = KeyField()
    moved_at = models.DateTimeField()
    recorded_at = models.DateTimeField(null=True, editable=False)

    class Meta:
        db_table = "billing_provider_movement"
        constraints = [models.UniqueConstraint(fields=["provider", "ref"], name="provider_movement_stored_once")]
        indexes = [
            models.Index(fields=["transaction_id"], name="provider_movement_of_payment"),
            models.Index(fields=["payment_ref"], name="provider_movement_of_ref"),
            models.Index(fields=["moved_at"], name="provider_movement_by_time"),
        ]

    def __str__(self) -> str:
        return f"{self.ref}: {usd(self.amount_microusd)}"
