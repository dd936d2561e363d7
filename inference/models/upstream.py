"""Model providers, with address, protocol and credential."""

from datetime import datetime, timedelta

from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import models
from yarl import URL

from gateway.core.contract.limits import UPSTREAM_TIMEOUT_MAX_SECONDS, UPSTREAM_TIMEOUT_MIN_SECONDS
from gateway.core.encryption.fields import EncryptedTextField
from gateway.core.outbound.distrust import DISTRUST_SECONDS, origin_of


class Upstream(models.Model):
    """An operator's configuration of one provider. Credentials are stored encrypted and never shown.

    While a key is rotated there are two: `api_key`, and either the one that follows it (`next_api_key`) or the one that it
    replaced (`previous_api_key`). `api_key_set_at` is when the current one was put in force; null if that is not known.
    """

    class Adapter(models.TextChoices):
        """The protocols of upstreams."""

        OPENAI = "openai", "OpenAI"
        ANTHROPIC = "anthropic"
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
    next_api_key = EncryptedTextField(blank=True, default="", db_default="")
    previous_api_key = EncryptedTextField(blank=True, default="", db_default="")
    api_key_set_at = models.DateTimeField(null=True, editable=False)
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
    out_of_turn_at = models.DateTimeField(null=True, editable=False)
    connections_trusted_at = models.DateTimeField(null=True, editable=False)

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=models.Q(timeout_seconds__gt=0, timeout_seconds__lte=UPSTREAM_TIMEOUT_MAX_SECONDS),
                name="upstream_timeout_in_range",
            ),
        ]

    def __str__(self) -> str:
        return self.name

    @property
    def other_api_keys(self) -> tuple[str, ...]:
        """Return the keys that are valid beside the current one."""
        others = dict.fromkeys((self.next_api_key, self.previous_api_key))
        return tuple(key for key in others if key and key != self.api_key)

    @property
    def origin(self) -> str | None:
        """Return the scheme, host and port of its address, None if it has no valid one."""
        try:
            return origin_of(URL(self.base_url)) if self.base_url else None
        except ValueError:
            return None

    def distrusted_until(self, now: datetime) -> datetime | None:
        """Return until when each of its connections is used for one call, because it sent something unrequested; None
        if they are reused."""
        seen_at, trusted_at = self.out_of_turn_at, self.connections_trusted_at
        if seen_at is None or (trusted_at is not None and trusted_at >= seen_at):
            return None
        until = seen_at + timedelta(seconds=DISTRUST_SECONDS)
        return until if until > now else None
