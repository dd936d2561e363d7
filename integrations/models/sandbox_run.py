"""Sandbox runs: single executions of a project's program."""

from django.db import models

from gateway.core.encryption.fields import EncryptedTextField
from integrations.models.execution import Execution, is_active
from integrations.models.sandbox_settings import SandboxSettings


class SandboxRun(Execution):
    """One run. `stdout` and `stderr` are the output so far, stored encrypted."""

    project = models.ForeignKey("integrations.Project", models.CASCADE, related_name="+")
    runner = models.CharField(max_length=16, choices=SandboxSettings.Runner.choices)
    exit_code = models.IntegerField(null=True)
    stdout = EncryptedTextField(blank=True, default="")
    stderr = EncryptedTextField(blank=True, default="")
    truncated = models.BooleanField(default=False)
    sequence = models.BigIntegerField(
        default=-1, editable=False, help_text="The number of the remote runner's latest report."
    )

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["project", "requested_by", "idempotency_key"], name="sandbox_run_once")
        ]
        indexes = [
            models.Index(fields=["project", "-created_at", "-id"], name="sandbox_run_of_project"),
            models.Index(fields=["status", "created_at"], condition=is_active(), name="sandbox_run_active"),
            models.Index(fields=["finished_at"], name="sandbox_run_over"),
        ]
