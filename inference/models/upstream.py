"""Model providers, with address, protocol and credential."""

from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import models

from gateway.core.contract.limits import UPSTREAM_TIMEOUT_MAX_SECONDS, UPSTREAM_TIMEOUT_MIN_SECONDS
from gateway.core.fields import EncryptedTextField


class Upstream(models.Model):
    """An operator's configuration of one provider. The credential is stored encrypted and never shown."""

    class Adapter(models.TextChoices):
        """The protocols of upstreams."""

        OPENAI = "openai"
        VOYAGE = "voyage"
        COHERE = "cohere"
        REPRESENTATION = "representation"
        JUDGEMENT = "judgement"
        REALTIME = "realtime"
        DEMO = "demo"

    name = models.CharField(max_length=128, unique=True)
    adapter = models.CharField(max_length=32, choices=Adapter.choices)
    base_url = models.CharField(max_length=500, blank=True, default="")
    api_key = EncryptedTextField(blank=True, default="")
    timeout_seconds = models.FloatField(
        default=120.0,
        validators=[MinValueValidator(UPSTREAM_TIMEOUT_MIN_SECONDS), MaxValueValidator(UPSTREAM_TIMEOUT_MAX_SECONDS)],
    )
    bills_errors = models.BooleanField(
        default=False,
        help_text="The upstream may charge for a call that it answers with an error. Such a call waits for review.",
    )
    fetches_images = models.BooleanField(
        default=False,
        db_default=False,
        help_text="Send https URLs of images to the upstream instead of fetching and checking the images in the gateway. "
        "Only for an upstream that cannot reach your private networks.",
    )
    enabled = models.BooleanField(default=True)
    options = models.JSONField(default=dict, blank=True)
    alarms = models.BigIntegerField(
        default=0,
        db_default=0,
        editable=False,
        help_text="How often the upstream returned an error that only an operator can fix.",
    )
    last_alarm = models.TextField(default="", db_default="", editable=False)
    last_alarm_at = models.DateTimeField(null=True, editable=False)

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=models.Q(timeout_seconds__gt=0, timeout_seconds__lte=UPSTREAM_TIMEOUT_MAX_SECONDS),
                name="upstream_timeout_in_range",
            ),
        ]

    def __str__(self) -> str:
        return self.name
