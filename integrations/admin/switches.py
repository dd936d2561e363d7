"""Integrations that need nothing but to be allowed."""

from django.contrib import admin

from gateway.core.console import ConsoleAdmin
from integrations.models import IntegrationSwitch


@admin.register(IntegrationSwitch)
class IntegrationSwitchAdmin(ConsoleAdmin):
    """Integrations that need nothing but to be allowed."""

    list_display = ("name", "enabled")
    ordering = ("name",)
