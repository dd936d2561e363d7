"""Execution configurations of projects' sandbox runs."""

from django.db import models

from gateway.core.encryption.bound_text import BoundTextField


class ExecutionConfig(models.Model):
    """A project's only configuration. It does not exist before the first PUT; until then the defaults apply.

    `command` is a list of strings. `environment` is a JSON object of strings, stored encrypted because people put
    credentials in it. `version` counts the changes from 1.
    """

    class Network(models.TextChoices):
        """The network access of a run."""

        NONE = "none", "No network"
        EGRESS = "egress", "The worker's network"

    project = models.OneToOneField(
        "integrations.Project", models.CASCADE, primary_key=True, related_name="execution_config"
    )
    runtime = models.CharField(max_length=64, default="default")
    command = models.JSONField(default=list)
    environment = BoundTextField(default="")
    timeout_seconds = models.PositiveIntegerField(default=30)
    memory_mb = models.PositiveIntegerField(default=256)
    network = models.CharField(max_length=8, choices=Network.choices, default=Network.NONE)
    version = models.PositiveIntegerField(default=0)
    updated_at = models.DateTimeField()

    def __str__(self) -> str:
        return f"version {self.version}"
