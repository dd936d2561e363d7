"""Tables with a single row that is never deleted."""

from django.db.models import Model
from django.http import HttpRequest

from gateway.core.console.tables import ConsoleAdmin


class SingleRowAdmin(ConsoleAdmin):
    """A table of one row."""

    def has_add_permission(self, request: HttpRequest) -> bool:
        """Allow the row to be created once. Pages of other tables call this too, and need no query for it."""
        if not super().has_add_permission(request):
            return False
        match = request.resolver_match
        is_own_page = match is not None and f"_{self.opts.model_name}_" in (match.url_name or "")
        return not (is_own_page and self.model._default_manager.exists())  # noqa: SLF001 (documented)

    def has_delete_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False
