"""Dated prices of seats."""

from django.db import models
from django.db.models.functions import Now

from billing.models.fields import KeyField, MicrousdField


class SeatPrice(models.Model):
    """The monthly price of a product's seat from an instant on. Rows are never edited.

    A trigger on the catalogue (`billing/sql/seat_prices.sql`) adds a row whenever a product's price is set, by any
    statement.
    """

    id = models.BigAutoField(primary_key=True)
    product = KeyField()
    price_microusd = MicrousdField()
    effective_at = models.DateTimeField(db_default=Now())

    class Meta:
        db_table = "billing_seat_price"
        constraints = [
            models.UniqueConstraint(fields=["product", "effective_at"], name="seat_price_one_per_instant"),
            models.CheckConstraint(condition=models.Q(price_microusd__gte=0), name="seat_price_min"),
        ]

    def __str__(self) -> str:
        return f"{self.product} from {self.effective_at:%Y-%m-%d %H:%M:%S}"
