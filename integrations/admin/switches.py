"""Integrations that only have an on/off switch."""

from django.contrib import admin
from django.http import HttpRequest

from gateway.core.console import ConsoleAdmin
from integrations.models import IntegrationSwitch


@admin.register(IntegrationSwitch)
class IntegrationSwitchAdmin(ConsoleAdmin):
    """Integrations that only have an on/off switch."""

    list_display = ("name", "enabled")
    ordering = ("name",)
    fields = ("name", "enabled")

    def get_readonly_fields(self, request: HttpRequest, obj: IntegrationSwitch | None = None) -> tuple[str, ...]:
        """Make the name read-only once it is set: it is the primary key, so another name would create a second
        switch.
        """
        return ("name",) if obj else ()
