"""Read-only tables, which only operations write, and inline rows."""

from typing import Any

from django.db.models import Model
from django.http import HttpRequest
from unfold.admin import TabularInline

from gateway.core.console.estimated_counts import EstimatedPaginator
from gateway.core.console.tables import ConsoleAdmin


class ReadOnlyAdmin(ConsoleAdmin):
    """A table that only operations write. Long tables are paged without counting their rows."""

    paginator = EstimatedPaginator
    list_disable_select_all = True

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False


class ReadOnlyInline(TabularInline):
    """Rows of another table, shown on the page of the row that they belong to."""

    extra = 0
    can_delete = False
    hide_title = True
    per_page = 20

    def get_readonly_fields(self, request: HttpRequest, obj: Model | None = None) -> Any:
        return self.fields

    def has_add_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False
