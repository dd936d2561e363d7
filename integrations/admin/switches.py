"""Integrations that only have an on/off switch."""

from django.contrib import admin

from gateway.core.console import ConsoleAdmin
from integrations.models import IntegrationSwitch


@admin.register(IntegrationSwitch)
class IntegrationSwitchAdmin(ConsoleAdmin):
    """Integrations that only have an on/off switch."""

    permanent_fields = ("name",)
    list_display = ("name", "enabled")
    ordering = ("name",)
    fields = ("name", "enabled")
