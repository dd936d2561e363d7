"""The common base of sandbox runs and evolution jobs: a program's execution by a worker."""

from typing import ClassVar

from django.db import models
from django.db.models import Q

from gateway.core.encryption.bound_text import BoundTextField


class Execution(models.Model):
    """`worker` is the token of the worker that executes it, `heartbeat_at` its last heartbeat, `reason` why the
    execution failed.

    `inputs` is a JSON object that is stored encrypted and cleared when the execution ends.
    """

    class Status(models.TextChoices):
        """The status of an execution."""

        QUEUED = "queued", "Queued"
        RUNNING = "running", "Running"
        SUCCEEDED = "succeeded", "Succeeded"
        FAILED = "failed", "Failed"
        TIMED_OUT = "timed_out", "Timed out"
        CANCELLING = "cancelling", "Cancelling"
        CANCELLED = "cancelled", "Cancelled"

    BEGUN: ClassVar[tuple[str, ...]] = (Status.RUNNING, Status.CANCELLING)
    ACTIVE: ClassVar[tuple[str, ...]] = (Status.QUEUED, *BEGUN)

    id = models.CharField(primary_key=True, max_length=40, editable=False)
    requested_by = models.CharField(max_length=2048, help_text="The DID of the account that requested it.")
    idempotency_key = models.CharField(max_length=255, null=True, editable=False)
    fingerprint = models.CharField(max_length=64, editable=False)
    status = models.CharField(max_length=16, choices=Status.choices, default=Status.QUEUED)
    inputs = BoundTextField(editable=False)
    reason = models.TextField(blank=True, default="")
    error_code = models.CharField(max_length=64, blank=True, default="")
    worker = models.CharField(max_length=32, blank=True, default="", editable=False)
    heartbeat_at = models.DateTimeField(null=True, editable=False)
    created_at = models.DateTimeField()
    started_at = models.DateTimeField(null=True)
    finished_at = models.DateTimeField(null=True)

    class Meta:
        abstract = True

    def __str__(self) -> str:
        return self.id

    @property
    def error(self) -> dict[str, str] | None:
        """Return why it failed, unless the program's own exit code says so."""
        return {"code": self.error_code, "message": self.reason} if self.error_code else None


def is_active() -> Q:
    """Return the condition of an index on unfinished executions."""
    return Q(status__in=Execution.ACTIVE)
