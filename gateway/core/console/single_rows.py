"""Tables of one row, which is made once and kept."""

from django.db.models import Model
from django.http import HttpRequest

from gateway.core.console.tables import ConsoleAdmin


class SingleRowAdmin(ConsoleAdmin):
    """A table of one row."""

    def has_add_permission(self, request: HttpRequest) -> bool:
        """Allow the row to be made once. Pages of other tables ask too; they need no look at the database for it."""
        if not super().has_add_permission(request):
            return False
        match = request.resolver_match
        is_own_page = match is not None and f"_{self.opts.model_name}_" in (match.url_name or "")
        return not (is_own_page and self.model._default_manager.exists())  # noqa: SLF001 (documented)

    def has_delete_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        """Keep the row."""
        return False
