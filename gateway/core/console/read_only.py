"""Tables that only operations write, and rows that are shown below another."""

from django.db.models import Model
from django.http import HttpRequest
from unfold.admin import TabularInline
from unfold.paginator import InfinitePaginator

from gateway.core.console.tables import ConsoleAdmin


class ReadOnlyAdmin(ConsoleAdmin):
    """A table that only operations write. Long ones are paged without counting them."""

    paginator = InfinitePaginator
    list_disable_select_all = True

    def has_add_permission(self, request: HttpRequest) -> bool:
        """Return False: nobody adds a row by hand."""
        return False

    def has_change_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        """Return False: nobody edits a row."""
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        """Return False: nobody deletes a row."""
        return False


class ReadOnlyInline(TabularInline):
    """Rows of another table, shown below the one that they belong to."""

    extra = 0
    can_delete = False
    show_change_link = True
    per_page = 20

    def has_add_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        """Return False: nobody adds a row by hand."""
        return False

    def has_change_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        """Return False: nobody edits a row."""
        return False
