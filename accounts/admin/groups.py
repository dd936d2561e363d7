"""Groups: sets of rights, for operators who may not do everything."""

from django.contrib import admin
from django.contrib.auth.admin import GroupAdmin as StockGroupAdmin
from django.contrib.auth.models import Group
from django.http import HttpRequest

from gateway.core.console import ConsoleAdmin

admin.site.unregister(Group)


@admin.register(Group)
class GroupAdmin(StockGroupAdmin, ConsoleAdmin):
    """Groups, with the console's look. Who could edit one could give every right to their own."""

    def has_add_permission(self, request: HttpRequest) -> bool:
        """Return whether the operator has every right: only such operators give rights."""
        return bool(request.user.is_superuser)

    def has_change_permission(self, request: HttpRequest, obj: Group | None = None) -> bool:
        """Return whether the operator has every right: only such operators give rights."""
        return bool(request.user.is_superuser)

    def has_delete_permission(self, request: HttpRequest, obj: Group | None = None) -> bool:
        """Return whether the operator has every right: only such operators take rights away."""
        return bool(request.user.is_superuser)
