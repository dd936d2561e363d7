"""Console pages for groups: sets of permissions for operators who are not superusers."""

from typing import Any

from django.contrib import admin
from django.contrib.auth.admin import GroupAdmin as StockGroupAdmin
from django.contrib.auth.models import Group
from django.db.models import QuerySet
from django.http import HttpRequest
from unfold.decorators import display

from accounts.rules.operator_roles import DESCRIPTIONS
from gateway.core.console import ConsoleAdmin

admin.site.unregister(Group)


@admin.register(Group)
class GroupAdmin(StockGroupAdmin, ConsoleAdmin):
    """Groups. Only superusers edit them, because an operator could otherwise grant all permissions to their own
    group. Nobody edits the ready ones, whose permissions every `migrate` sets.
    """

    list_display = ("name", "kind", "does")
    list_select_related = ("role",)

    def get_queryset(self, request: HttpRequest) -> QuerySet[Group]:
        return super().get_queryset(request).select_related("role")

    def get_fieldsets(self, request: HttpRequest, obj: Group | None = None) -> Any:
        """Describe what a ready group does."""
        if obj is None or not _is_ready(obj):
            return super().get_fieldsets(request, obj)
        description = f"A ready group: it {self.does(obj)}. To differ from it, make a group of your own."
        return [(None, {"fields": ("name", "permissions"), "description": description})]

    @display(description="Kind", label={"Ready role": "info", "Own group": "default"})
    def kind(self, group: Group) -> str:
        return "Ready role" if _is_ready(group) else "Own group"

    @display(description="What it does")
    def does(self, group: Group) -> str:
        """Return a ready group's purpose."""
        return DESCRIPTIONS.get(group.role.name, "") if _is_ready(group) else ""

    def has_add_permission(self, request: HttpRequest) -> bool:
        return bool(request.user.is_superuser)

    def has_change_permission(self, request: HttpRequest, obj: Group | None = None) -> bool:
        return bool(request.user.is_superuser) and not (obj is not None and _is_ready(obj))

    def has_delete_permission(self, request: HttpRequest, obj: Group | None = None) -> bool:
        return bool(request.user.is_superuser) and not (obj is not None and _is_ready(obj))


def _is_ready(group: Group) -> bool:
    return hasattr(group, "role")
