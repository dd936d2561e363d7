"""Groups: sets of rights, for operators who may not do everything."""

from django.contrib import admin
from django.contrib.auth.admin import GroupAdmin as StockGroupAdmin
from django.contrib.auth.models import Group

from gateway.console import ConsoleAdmin

admin.site.unregister(Group)


@admin.register(Group)
class GroupAdmin(StockGroupAdmin, ConsoleAdmin):
    """Groups, with the console's look."""
