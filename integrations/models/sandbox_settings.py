"""The operator's settings for sandbox runs: limits and runner."""

from typing import ClassVar

from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import models
from django.db.models import Q

from gateway.core.encryption.fields import EncryptedTextField

TIMEOUT_MAX_SECONDS = 24 * 3600
MEMORY_MAX_MB = 1024 * 1024


def default_runtimes() -> list[str]:
    return ["default"]


class SandboxSettings(models.Model):
    """A single row; without it, the sandbox is off. `base_url` and `secret` are for a remote runner."""

    ONLY: ClassVar[int] = 1

    class Runner(models.TextChoices):
        """The kind of runner."""

        BUBBLEWRAP = "bubblewrap", "bubblewrap, on the worker's machine"
        HTTP = "http", "A remote runner"

    class Network(models.TextChoices):
        """The network access that a run may have at most."""

        NONE = "none", "No network"
        EGRESS = "egress", "The worker's network"

    id = models.SmallIntegerField(primary_key=True, default=ONLY, editable=False)
    runner = models.CharField(max_length=16, choices=Runner.choices)
    base_url = models.CharField(max_length=500, blank=True, default="")
    secret = EncryptedTextField(blank=True, default="")
    previous_secret = EncryptedTextField(
        blank=True, default="", help_text="Also accepted until the runner uses the new one."
    )
    runtimes = models.JSONField(default=default_runtimes)
    max_timeout_seconds = models.PositiveIntegerField(
        default=60, validators=[MinValueValidator(1), MaxValueValidator(TIMEOUT_MAX_SECONDS)]
    )
    max_memory_mb = models.PositiveIntegerField(
        default=512, validators=[MinValueValidator(16), MaxValueValidator(MEMORY_MAX_MB)]
    )
    network = models.CharField(max_length=8, choices=Network.choices, default=Network.NONE)

    class Meta:
        verbose_name = verbose_name_plural = "sandbox settings"
        constraints = [models.CheckConstraint(condition=Q(id=1), name="sandbox_settings_single")]

    def __str__(self) -> str:
        return "Sandbox settings"
