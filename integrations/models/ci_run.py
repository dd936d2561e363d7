"""CI runs, as their providers last reported them."""

from django.db import models


class CIRun(models.Model):
    """One run. `attempt` and `position` order its deliveries; an older delivery changes nothing.

    `steps` is a list of objects as the API returns them. Steps that were reported individually also have an `attempt`.
    """

    class Status(models.TextChoices):
        """The status of a run."""

        QUEUED = "queued", "Queued"
        RUNNING = "running", "Running"
        SUCCEEDED = "succeeded", "Succeeded"
        FAILED = "failed", "Failed"
        CANCELLED = "cancelled", "Cancelled"

    id = models.CharField(primary_key=True, max_length=40, editable=False)
    project = models.ForeignKey("integrations.Project", models.CASCADE, related_name="+")
    provider = models.ForeignKey("integrations.CIProvider", models.CASCADE, related_name="+")
    external_id = models.CharField("external id", max_length=255)
    ref = models.CharField(max_length=255)
    commit = models.CharField(max_length=64)
    status = models.CharField(max_length=16, choices=Status.choices)
    steps = models.JSONField(default=list)
    url = models.URLField(max_length=2000, blank=True)
    attempt = models.PositiveIntegerField(default=1, editable=False)
    position = models.DecimalField(max_digits=20, decimal_places=0, default=0, editable=False)
    created_at = models.DateTimeField()
    updated_at = models.DateTimeField()
    finished_at = models.DateTimeField(null=True)

    class Meta:
        verbose_name = "CI run"
        constraints = [
            models.UniqueConstraint(fields=["provider", "project", "external_id"], name="ci_run_once"),
        ]
        indexes = [
            models.Index(fields=["project", "-created_at", "-id"], name="ci_run_of_project"),
            models.Index(fields=["updated_at"], name="ci_run_last_report"),
        ]

    def __str__(self) -> str:
        return self.external_id
