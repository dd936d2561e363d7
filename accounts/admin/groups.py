"""Console pages for groups: sets of permissions for operators who are not superusers."""

from django.contrib import admin
from django.contrib.auth.admin import GroupAdmin as StockGroupAdmin
from django.contrib.auth.models import Group
from django.http import HttpRequest

from gateway.core.console import ConsoleAdmin

admin.site.unregister(Group)


@admin.register(Group)
class GroupAdmin(StockGroupAdmin, ConsoleAdmin):
    """Groups. Only superusers edit them, because an operator could otherwise grant all permissions to their own
    group.
    """

    def has_add_permission(self, request: HttpRequest) -> bool:
        return bool(request.user.is_superuser)

    def has_change_permission(self, request: HttpRequest, obj: Group | None = None) -> bool:
        return bool(request.user.is_superuser)

    def has_delete_permission(self, request: HttpRequest, obj: Group | None = None) -> bool:
        return bool(request.user.is_superuser)
