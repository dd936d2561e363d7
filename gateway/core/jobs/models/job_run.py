"""Runs of the scheduled jobs."""

from datetime import datetime

from django.conf import settings
from django.db import models
from django.db.models import Q


class Outcome(models.TextChoices):
    """running → done | failed. A run whose worker died stays `running`."""

    RUNNING = "running"
    DONE = "done"
    FAILED = "failed"


class JobRun(models.Model):
    """One run of a job, or several consecutive runs with the same outcome and nothing to do.

    `counts` says what was done, by kind ({"calls": 3}), without zeros. `runs` is the number of runs in the row; the row
    spans them from the start of the first to the end of the last. `error` is the first line of a failed run's error.
    """

    id = models.BigAutoField(primary_key=True)
    job = models.TextField()
    started_at = models.DateTimeField()
    ended_at = models.DateTimeField(null=True, blank=True)
    outcome = models.TextField(choices=Outcome.choices, default=Outcome.RUNNING)
    counts = models.JSONField(default=dict, blank=True)
    error = models.TextField(null=True, blank=True)
    runs = models.IntegerField(default=1)

    class Meta:
        db_table = "jobs_run"
        verbose_name, verbose_name_plural = "job run", "jobs"
        constraints = [
            models.CheckConstraint(condition=Q(outcome__in=Outcome.values), name="job_run_outcome_known"),
            models.CheckConstraint(
                condition=Q(outcome="running") ^ Q(ended_at__isnull=False), name="job_run_ended_has_its_time"
            ),
            models.CheckConstraint(condition=Q(runs__gte=1), name="job_run_runs_min"),
        ]
        indexes = [
            models.Index(fields=["job", "-id"], name="job_run_newest_of_job"),
            models.Index(fields=["started_at"], name="job_run_by_time"),
        ]

    def __str__(self) -> str:
        name, _ = settings.JOB_TEXTS.get(self.job, (self.job, ""))
        return f"{name}: {self.outcome}"

    @property
    def seen_at(self) -> datetime:
        """Return the latest time of activity in this row."""
        return self.ended_at or self.started_at
