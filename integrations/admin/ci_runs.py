"""CI runs as their providers reported them."""

from django.contrib import admin
from django.utils.html import format_html_join
from django.utils.safestring import SafeString
from unfold.decorators import display

from gateway.core.console import ReadOnlyAdmin
from integrations.models import CIRun


@admin.register(CIRun)
class CIRunAdmin(ReadOnlyAdmin):
    """What providers reported."""

    list_display = ("external_id", "project", "provider", "ref", "status", "created_at", "finished_at")
    list_filter = ("status", "provider", "created_at")
    list_select_related = ("project", "provider")
    search_fields = ("id__exact", "external_id__exact", "commit__startswith")
    ordering = ("-created_at", "-id")
    fields = readonly_fields = (
        *("id", "project", "provider", "external_id", "ref", "commit", "status", "url", "attempt", "step_list"),
        *("created_at", "updated_at", "finished_at"),
    )

    @display(description="Steps")
    def step_list(self, run: CIRun) -> str | SafeString:
        """Render one step a line."""
        return format_html_join("", "<div>{}: {}</div>", ((step["name"], step["status"]) for step in run.steps)) or "-"
