"""Console pages for artifacts, evidence and revisions, without contents, which belong to the owners."""

from django.contrib import admin
from django.db.models import Model, QuerySet
from django.http import HttpRequest
from unfold.admin import ModelAdmin
from unfold.decorators import display

from gateway.core.console import PartyColumn, ReadOnlyAdmin, ReadOnlyInline
from integrations.admin.texts import breakable
from integrations.models import EvolutionArtifact, EvolutionEvidence, EvolutionRevision
from integrations.queries import evolution

OWNER = PartyColumn("Owner", "owner_key", kind_path="owner_kind")


class EvidenceInline(ReadOnlyInline):
    """Evidence about an artifact."""

    model = EvolutionEvidence
    ordering = ("-created_at", "-id")
    fields = ("id", "kind", "created_at")
    hide_title = False
    verbose_name_plural = "evidence"


@admin.register(EvolutionArtifact)
class EvolutionArtifactAdmin(ReadOnlyAdmin):
    """Artifacts by content hash. Operators can delete those that no revision and no unfinished job needs."""

    empty_text = "The API keeps them: clients store the first artifact of an evolution."
    owner = OWNER

    list_display = ("id", "owner", "kind", "size", "created_at")
    list_filter = ("owner_kind", "created_at")
    search_fields = ("id__exact", "sha256__exact", "kind__exact", "owner_key__exact")
    party_fields = ("owner_key",)
    ordering = ("-created_at", "-id")
    fields = ("id", "owner", "kind", "digest", "size", "created_at")
    inlines = (EvidenceInline,)

    def has_delete_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        """Allow deleting an artifact, with its evidence, unless an unfinished job reads it."""
        is_allowed = ModelAdmin.has_delete_permission(self, request, obj)
        return is_allowed and not (obj is not None and evolution.is_awaited(obj.pk))

    @display(description="SHA-256")
    def digest(self, artifact: EvolutionArtifact) -> str:
        return breakable(artifact.sha256)

    def get_queryset(self, request: HttpRequest) -> QuerySet[EvolutionArtifact]:
        """Exclude the contents where they are."""
        return super().get_queryset(request).defer("content", "metadata")


@admin.register(EvolutionRevision)
class EvolutionRevisionAdmin(ReadOnlyAdmin):
    """Activations of artifacts. An owner's highest revision is the active one."""

    empty_text = "One is made when a client activates an artifact."
    owner = OWNER

    list_display = ("named", "owner", "artifact", "activated_at")
    list_filter = ("owner_kind", "activated_at")
    list_select_related = ("artifact",)
    search_fields = ("artifact__id__exact", "owner_key__exact")
    party_fields = ("owner_key",)
    ordering = ("-activated_at", "-id")
    fields = ("revision", "owner", "artifact", "activated_at")

    @display(description="Revision", ordering="revision")
    def named(self, revision: EvolutionRevision) -> int:
        return revision.revision

    def get_queryset(self, request: HttpRequest) -> QuerySet[EvolutionRevision]:
        """Exclude the contents of the artifacts where they are."""
        return super().get_queryset(request).defer("artifact__content", "artifact__metadata")
