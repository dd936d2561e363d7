"""The requests of an hour, summed."""

from django.contrib.postgres.fields import ArrayField
from django.db import models

from gateway.core.telemetry.models.fields import KeyField
from gateway.core.telemetry.rules.buckets import empty


class HourlyTraffic(models.Model):
    """The requests that ended in an hour, by what they have in common. `hour` is its beginning.

    Durations are sums of microseconds, and histograms by `rules.buckets`: from arrival to end, from arrival to the first byte of the
    upstream's answer (only of requests that had one), and the gateway's own time. `cause` is "" for an answer without any.
    `untraced` counts those of the requests that have no `RequestTrace`. Every process adds to these rows once a second. No money is
    ever decided from them.
    """

    KEY = ("hour", "route", "model", "product", "upstream", "outcome", "cause")

    hour = models.DateTimeField()
    route = KeyField()
    model = KeyField()
    product = KeyField()
    upstream = KeyField()
    outcome = KeyField()
    cause = KeyField()
    requests = models.BigIntegerField(db_default=0)
    untraced = models.BigIntegerField(db_default=0)
    duration_microseconds = models.BigIntegerField(db_default=0)
    first_byte_microseconds = models.BigIntegerField(db_default=0)
    overhead_microseconds = models.BigIntegerField(db_default=0)
    duration_buckets = ArrayField(models.BigIntegerField(), default=empty)
    first_byte_buckets = ArrayField(models.BigIntegerField(), default=empty)
    overhead_buckets = ArrayField(models.BigIntegerField(), default=empty)

    class Meta:
        db_table = "telemetry_hour"
        verbose_name = "hour of traffic"
        verbose_name_plural = "hours of traffic"
        constraints = [
            models.UniqueConstraint(
                fields=["hour", "route", "model", "product", "upstream", "outcome", "cause"], name="telemetry_hour_key"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.hour:%Y-%m-%d %H:00} {self.route} {self.model} {self.outcome}"
