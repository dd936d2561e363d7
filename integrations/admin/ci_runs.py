"""Console page for CI runs as their providers reported them."""

from django.contrib import admin
from unfold.decorators import display

from gateway.core.console import ReadOnlyAdmin
from integrations.admin.texts import breakable, lines
from integrations.models import CIRun


@admin.register(CIRun)
class CIRunAdmin(ReadOnlyAdmin):
    """CI runs."""

    empty_text = "Add a CI provider and a project with a repository. The provider then reports its runs."
    list_display = ("external_id", "project", "provider", "ref", "status", "created_at", "finished_at")
    list_filter = ("status", "provider", "created_at")
    list_select_related = ("project", "provider")
    search_fields = ("id__exact", "external_id__exact", "commit__startswith")
    ordering = ("-created_at", "-id")
    fields = (
        *(
            "id",
            "project",
            "provider",
            "external_id",
            "ref",
            "commit_hash",
            "status",
            "address",
            "attempt",
            "step_list",
        ),
        *("created_at", "updated_at", "finished_at"),
    )

    @display(description="Steps")
    def step_list(self, run: CIRun) -> str:
        return lines(f"{step['name']}: {step['status']}" for step in run.steps)

    @display(description="Commit")
    def commit_hash(self, run: CIRun) -> str:
        return breakable(run.commit)

    @display(description="URL")
    def address(self, run: CIRun) -> str:
        """Render the run's URL as text, not as a link, because it comes from the provider."""
        return breakable(run.url)
