"""Console page for the log of operators' actions."""

from django.contrib import admin
from django.contrib.admin.models import LogEntry
from unfold.decorators import display

from accounts.admin.people import person_fields
from gateway.core.console import PartyColumn, ReadOnlyAdmin


@admin.register(LogEntry)
class LogEntryAdmin(ReadOnlyAdmin):
    """Operators' actions, with the reason that was given."""

    empty_text = "Whatever an operator changes is listed here, with the reason."
    operator = PartyColumn("Operator", "user")

    list_display = ("action_time", "operator", "kind", "object_repr", "message")
    list_filter = ("action_flag", "action_time")
    list_select_related = ("user", "content_type")
    search_fields = ("object_id__exact", *person_fields("user"), "object_repr")
    ordering = ("-id",)
    fields = ("action_time", "operator", "kind", "object_repr", "message")

    @display(description="Table")
    def kind(self, entry: LogEntry) -> str:
        """Return the name of the changed table."""
        return entry.content_type.name if entry.content_type else ""

    @display(description="Change")
    def message(self, entry: LogEntry) -> str:
        return entry.get_change_message() or entry.get_action_flag_display()
