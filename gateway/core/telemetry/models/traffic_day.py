"""The requests of a day, summed."""

from django.db import models


class TrafficDay(models.Model):
    """The requests of a UTC day that came to a model, and those of them that failed by no fault of the client.

    Derived from the hours, once the day is over. The days are without a gap: up to the last of them, one without a row had no
    requests.
    """

    day = models.DateField(primary_key=True)
    requests = models.BigIntegerField()
    failures = models.BigIntegerField()

    class Meta:
        db_table = "telemetry_day"

    def __str__(self) -> str:
        return f"{self.day}: {self.requests} requests"
