"""Days of the payment provider's balance that were read and matched."""

from django.db import models
from django.db.models.functions import Now

from billing.models.fields import KeyField


class MatchedDay(models.Model):
    """A UTC day whose movements were read completely. `reading` is 1, or 2 if late entries were read as well.

    `matched_at` is set once the day's payments were compared with ours; the row never changes again. `recorded_at` is
    the database's time of that; a trigger sets it.
    """

    id = models.BigAutoField(primary_key=True)
    provider = KeyField()
    is_live = models.BooleanField()
    day = models.DateField()
    reading = models.SmallIntegerField()
    movements = models.IntegerField()
    read_at = models.DateTimeField(db_default=Now())
    matched_at = models.DateTimeField(null=True, blank=True)
    recorded_at = models.DateTimeField(null=True, editable=False)

    class Meta:
        db_table = "billing_matched_day"
        constraints = [
            models.UniqueConstraint(fields=["provider", "is_live", "day", "reading"], name="matched_day_once")
        ]
        indexes = [
            models.Index(fields=["day"], name="matched_day_waiting", condition=models.Q(matched_at__isnull=True))
        ]

    def __str__(self) -> str:
        return f"{self.day}: {self.movements} movements"
