"""Recent requests, with their steps."""

from django.db import models
from django.db.models import Q

from gateway.core.telemetry.models.fields import KeyField


class RequestTrace(models.Model):
    """One model request with its steps, for REQUEST_TRACE_DAYS. Under load, not every request has a row.

    The columns are those of `observation.Observation`, and `upstream` is the one that was tried last. `steps` is an object:

    - `marks`: `[[name, microseconds since the arrival], …]` in order of time
    - `attempts`: `[{"deployment", "upstream", "began", "first_byte", "ended", "status", "cause"}, …]`, times likewise, null if unknown
    - `hold`: what the hold was computed from: `price_version`, `max_cost_microusd`, and bound quantities by name
    """

    request_id = KeyField()
    usage_id = KeyField()
    began_at = models.DateTimeField()
    route = KeyField()
    model = KeyField()
    product = KeyField()
    upstream = KeyField()
    account = KeyField()
    org_id = KeyField()
    client_id = KeyField()
    credential = KeyField()
    is_stream = models.BooleanField(db_default=False)
    status = models.IntegerField(null=True, blank=True)
    code = KeyField()
    outcome = KeyField()
    cause = KeyField()
    duration_microseconds = models.BigIntegerField()
    first_byte_microseconds = models.BigIntegerField(null=True, blank=True)
    overhead_microseconds = models.BigIntegerField()
    hold_microusd = models.BigIntegerField(null=True, blank=True)
    charge_microusd = models.BigIntegerField(null=True, blank=True)
    cost_microusd = models.BigIntegerField(null=True, blank=True)
    steps = models.JSONField(default=dict)

    class Meta:
        db_table = "telemetry_request"
        verbose_name = "request"
        indexes = [
            models.Index(fields=["began_at", "id"], name="telemetry_request_began"),
            models.Index(fields=["request_id"], name="telemetry_request_request_id"),
            models.Index(fields=["usage_id"], name="telemetry_request_usage_id", condition=~Q(usage_id="")),
            models.Index(fields=["account", "began_at"], name="telemetry_request_account", condition=~Q(account="")),
            models.Index(
                fields=["began_at", "id"],
                name="telemetry_request_without",
                condition=Q(outcome__in=("refused", "failed", "released", "review")),
            ),
        ]

    def __str__(self) -> str:
        return f"{self.request_id}: {self.outcome}"
