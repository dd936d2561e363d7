"""What the operator allows: the sandbox, the programs of evolution, and the integrations that have a switch."""

from typing import Any

from django import forms
from django.contrib import admin
from django.core.exceptions import ValidationError

from gateway.core.addresses import WEB_WORDS, is_web_address
from gateway.core.console import ConsoleAdmin, LinesField, SingleRowAdmin
from integrations.admin.forms import RotatingSecretForm
from integrations.models import EvolutionProgram, IntegrationSwitch, SandboxSettings


class SandboxSettingsForm(RotatingSecretForm):
    """Checks what the file checks."""

    runtimes = LinesField(help_text="The names that an execution configuration may choose from, one per line.")

    class Meta:
        model = SandboxSettings
        fields = (
            "runner",
            "base_url",
            "secret",
            "previous_secret",
            "remove_previous_secret",
            "runtimes",
            "max_timeout_seconds",
            "max_memory_mb",
            "network",
        )
        labels = {
            "base_url": "Base URL",
            "max_timeout_seconds": "Longest time in seconds",
            "max_memory_mb": "Most memory in MB",
        }

    def clean_base_url(self) -> str:
        """Refuse an address that signed requests must not be sent to."""
        base_url: str = self.cleaned_data["base_url"].rstrip("/")
        if base_url and not is_web_address(base_url):
            raise ValidationError(f"This {WEB_WORDS}.")
        return base_url

    def clean(self) -> dict[str, Any]:
        """Refuse a remote runner that is not complete."""
        cleaned = super().clean() or {}
        if cleaned.get("runner") == SandboxSettings.Runner.HTTP:
            for name in ("base_url", "secret"):
                if name in cleaned and not cleaned[name]:
                    self.add_error(name, "A remote runner needs this.")
        return cleaned


@admin.register(SandboxSettings)
class SandboxSettingsAdmin(SingleRowAdmin):
    """Who executes sandbox runs, and the most that they may ask for."""

    form = SandboxSettingsForm
    list_display = ("__str__", "runner", "base_url", "max_timeout_seconds", "max_memory_mb", "network")


class EvolutionProgramForm(forms.ModelForm):
    """Takes the command one argument a line."""

    command = LinesField(help_text="The program and its arguments, one per line.")

    class Meta:
        model = EvolutionProgram
        fields = ("name", "command", "timeout_seconds", "memory_mb", "result_kind")


@admin.register(EvolutionProgram)
class EvolutionProgramAdmin(ConsoleAdmin):
    """Programs that evolution jobs may name."""

    form = EvolutionProgramForm
    list_display = ("name", "timeout_seconds", "memory_mb", "result_kind")
    ordering = ("name",)
    search_fields = ("name",)


@admin.register(IntegrationSwitch)
class IntegrationSwitchAdmin(ConsoleAdmin):
    """Integrations that need nothing but to be allowed."""

    list_display = ("name", "enabled")
    ordering = ("name",)
