"""How a project's sandbox runs are executed."""

from django.db import models

from gateway.core.fields import EncryptedTextField


class ExecutionConfig(models.Model):
    """The one configuration of a project; before the first PUT there is none, and the defaults apply.

    `command` is a list of texts. `environment` is a JSON object of texts; it is stored encrypted, because people keep
    credentials in it. `version` counts the changes, from 1.
    """

    class Network(models.TextChoices):
        """What a run may reach."""

        NONE = "none", "Nothing"
        EGRESS = "egress", "The network"

    project = models.OneToOneField(
        "integrations.Project", models.CASCADE, primary_key=True, related_name="execution_config"
    )
    runtime = models.CharField(max_length=64, default="default")
    command = models.JSONField(default=list)
    environment = EncryptedTextField(default="")
    timeout_seconds = models.PositiveIntegerField(default=30)
    memory_mb = models.PositiveIntegerField(default=256)
    network = models.CharField(max_length=8, choices=Network.choices, default=Network.NONE)
    version = models.PositiveIntegerField(default=0)
    updated_at = models.DateTimeField()

    def __str__(self) -> str:
        return f"version {self.version}"
