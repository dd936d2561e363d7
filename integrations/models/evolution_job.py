"""The operator's programs that create artifacts from others, and their executions."""

from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import models

from integrations.models.evolution import EvolutionArtifact, Owned
from integrations.models.execution import Execution, is_active
from integrations.models.sandbox_settings import MEMORY_MAX_MB, TIMEOUT_MAX_SECONDS


class EvolutionProgram(models.Model):
    """A program that jobs may name. `result_kind` is the kind of its result; if empty, that of the first input."""

    name = models.SlugField(primary_key=True, max_length=64)
    command = models.JSONField(help_text="A list: the program and its arguments.")
    timeout_seconds = models.PositiveIntegerField(
        default=30, validators=[MinValueValidator(1), MaxValueValidator(TIMEOUT_MAX_SECONDS)]
    )
    memory_mb = models.PositiveIntegerField(
        default=256, validators=[MinValueValidator(16), MaxValueValidator(MEMORY_MAX_MB)]
    )
    result_kind = models.CharField(max_length=64, blank=True, default="")

    def __str__(self) -> str:
        return self.name


class EvolutionJob(Execution, Owned):
    """One execution of a program on artifacts and evidence, which it names by id."""

    program = models.CharField(max_length=64)
    artifact_ids = models.JSONField(default=list)
    evidence_ids = models.JSONField(default=list)
    result_artifact = models.ForeignKey(EvolutionArtifact, models.PROTECT, null=True, related_name="+")

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["owner_kind", "owner_key", "requested_by", "idempotency_key"], name="evolution_job_once"
            )
        ]
        indexes = [
            models.Index(fields=["owner_kind", "owner_key", "-created_at", "-id"], name="evolution_job_of_owner"),
            models.Index(fields=["status", "created_at"], condition=is_active(), name="evolution_job_active"),
            models.Index(fields=["finished_at"], name="evolution_job_over"),
        ]
