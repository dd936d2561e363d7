"""Artifacts by content, evidence about them, and the active revision."""

from django.db import models

from integrations.models.project import Project
from integrations.models.stored_json import StoredJSONDecoder


class Owned(models.Model):
    """A record that belongs to an account or an organization, identified like an owner in billing."""

    owner_kind = models.CharField(max_length=16, choices=Project.OwnerKind.choices)
    owner_key = models.CharField(max_length=2048)

    class Meta:
        abstract = True


class EvolutionArtifact(Owned):
    """Content of one kind. Each combination of owner, kind and content is one artifact. `sha256` is hexadecimal."""

    id = models.CharField(primary_key=True, max_length=40, editable=False)
    kind = models.CharField(max_length=64)
    sha256 = models.CharField("SHA-256", max_length=64)
    size = models.PositiveIntegerField(help_text="Bytes.")
    content = models.BinaryField()
    metadata = models.JSONField(default=dict, decoder=StoredJSONDecoder)
    created_at = models.DateTimeField()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["owner_kind", "owner_key", "kind", "sha256"], name="evolution_artifact_by_content"
            )
        ]
        indexes = [models.Index(fields=["owner_kind", "owner_key", "-created_at", "-id"], name="artifact_of_owner")]

    def __str__(self) -> str:
        return self.id


class EvolutionEvidence(Owned):
    """An observation about an artifact."""

    id = models.CharField(primary_key=True, max_length=40, editable=False)
    artifact = models.ForeignKey(EvolutionArtifact, models.CASCADE, related_name="evidence")
    kind = models.CharField(max_length=64)
    payload = models.JSONField(decoder=StoredJSONDecoder)
    created_at = models.DateTimeField()

    class Meta:
        verbose_name_plural = "evolution evidence"
        indexes = [models.Index(fields=["owner_kind", "owner_key", "-created_at", "-id"], name="evidence_of_owner")]

    def __str__(self) -> str:
        return self.id


class EvolutionRevision(Owned):
    """One activation of an artifact. An owner's highest revision is the active one; the others are history."""

    revision = models.PositiveIntegerField()
    artifact = models.ForeignKey(EvolutionArtifact, models.PROTECT, related_name="+")
    activated_at = models.DateTimeField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["owner_kind", "owner_key", "revision"], name="evolution_revision_once")
        ]

    def __str__(self) -> str:
        return str(self.revision)
