"""The part of a hold that a credit lot covers."""

from django.db import models
from django.db.models import F, Q

from billing.models.credit_lot import CreditLot
from billing.models.fields import MicrousdField
from billing.models.reservation import Reservation


class LotAllocation(models.Model):
    """Holds `amount` of a lot for a call; `position` (from 1) is the order of spending, `spent` what was charged."""

    id = models.BigAutoField(primary_key=True)
    reservation = models.ForeignKey(
        Reservation, models.PROTECT, related_name="lot_allocations", db_index=False, db_constraint=False
    )
    lot = models.ForeignKey(CreditLot, models.PROTECT, related_name="allocations", db_constraint=False)
    position = models.SmallIntegerField()
    amount_microusd = MicrousdField()
    spent_microusd = MicrousdField(db_default=0)

    class Meta:
        db_table = "billing_lot_allocation"
        constraints = [
            models.UniqueConstraint(fields=["reservation", "position"], name="lot_allocation_one_per_position"),
            models.CheckConstraint(
                condition=Q(amount_microusd__gt=0, spent_microusd__gte=0, spent_microusd__lte=F("amount_microusd")),
                name="lot_allocation_spent_within_amount",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.reservation_id} ← {self.lot_id}: {self.amount_microusd}"
