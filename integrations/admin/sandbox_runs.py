"""Console page for sandbox runs, where operators can cancel them."""

from django.contrib import admin, messages
from django.db.models import QuerySet
from django.http import HttpRequest
from unfold.decorators import display

from gateway.core.console import ListReasonForm, PartyColumn, ReadOnlyAdmin, reason_of
from integrations import tasks
from integrations.models import SandboxRun
from integrations.operations import sandbox_runs


@admin.register(SandboxRun)
class SandboxRunAdmin(ReadOnlyAdmin):
    """Sandbox runs, without input and output, which belong to their owners."""

    empty_text = "Add a project; its members start runs by the API."
    requester = PartyColumn("Requested by", "requested_by")

    list_display = ("id", "project", "requester", "status", "exit_code", "created_at", "finished_at")
    list_filter = ("status", "runner", "created_at")
    list_select_related = ("project",)
    search_fields = ("id__exact", "project__key", "project__name", "requested_by__exact")
    party_fields = ("requested_by",)
    ordering = ("-created_at", "-id")
    fields = (
        *("id", "project", "runner", "requester", "status", "exit_code", "cut", "error_code", "reason"),
        *("created_at", "started_at", "finished_at"),
    )
    actions = ("cancel",)
    action_form = ListReasonForm

    @display(description="Truncated")
    def cut(self, run: SandboxRun) -> str:
        return "Yes" if run.truncated else "No"

    @admin.action(description="Cancel the selected runs", permissions=["cancel"])
    def cancel(self, request: HttpRequest, queryset: QuerySet[SandboxRun]) -> None:
        """Cancel the selected runs. Finished runs do not change."""
        active = list(queryset.filter(status__in=SandboxRun.ACTIVE))
        for run in active:
            sandbox_runs.request_cancel(run)
            tasks.pass_on_cancel(run)
            self.log_change(request, run, f"Cancelled: {reason_of(request)}")
        messages.success(request, f"Runs cancelled: {len(active)}.")

    def has_cancel_permission(self, request: HttpRequest) -> bool:
        """Return whether the operator may change runs, although no form changes one."""
        return request.user.has_perm("integrations.change_sandboxrun")
