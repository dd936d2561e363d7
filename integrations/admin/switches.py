"""Integrations that need nothing but to be allowed."""

from django.contrib import admin
from django.http import HttpRequest

from gateway.core.console import ConsoleAdmin
from integrations.models import IntegrationSwitch


@admin.register(IntegrationSwitch)
class IntegrationSwitchAdmin(ConsoleAdmin):
    """Integrations that need nothing but to be allowed."""

    list_display = ("name", "enabled")
    ordering = ("name",)
    fields = ("name", "enabled")

    def get_readonly_fields(self, request: HttpRequest, obj: IntegrationSwitch | None = None) -> tuple[str, ...]:
        """Keep the name, by which the row is stored: another one would make a second switch."""
        return ("name",) if obj else ()
