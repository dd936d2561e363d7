"""Console page for evolution jobs."""

from django.contrib import admin
from unfold.decorators import display

from gateway.core.console import PartyColumn, ReadOnlyAdmin
from integrations.admin.texts import lines
from integrations.models import EvolutionJob


@admin.register(EvolutionJob)
class EvolutionJobAdmin(ReadOnlyAdmin):
    """Evolution jobs."""

    empty_text = "Add an evolution program; clients start jobs of it."
    owner = PartyColumn("Owner", "owner_key", kind_path="owner_kind")
    requester = PartyColumn("Requested by", "requested_by")

    list_display = ("id", "owner", "program", "status", "created_at", "finished_at")
    list_filter = ("status", "program", "created_at")
    search_fields = ("id__exact", "program__exact", "owner_key__exact")
    party_fields = ("owner_key",)
    ordering = ("-created_at", "-id")
    fields = (
        *("id", "owner", "requester", "program", "inputs_named", "evidence_named", "status", "result_artifact"),
        *("error_code", "reason", "created_at", "started_at", "finished_at"),
    )

    @display(description="Inputs")
    def inputs_named(self, job: EvolutionJob) -> str:
        """Name the artifacts, one per line."""
        return lines(job.artifact_ids)

    @display(description="Evidence")
    def evidence_named(self, job: EvolutionJob) -> str:
        return lines(job.evidence_ids)
