"""The runner of sandbox runs, and the limits on runs."""

from typing import Any

from django.contrib import admin
from django.core.exceptions import ValidationError
from unfold.decorators import display

from gateway.core.console import LinesField, SingleRowAdmin, quantity
from gateway.core.contract.addresses import WEB_WORDS, is_web_address
from integrations.admin.forms import RotatingSecretForm
from integrations.models import SandboxSettings


class SandboxSettingsForm(RotatingSecretForm):
    """Validates the settings as the configuration file does."""

    runtimes = LinesField(help_text="The names that an execution configuration may choose from, one per line.")

    class Meta:
        model = SandboxSettings
        fields = (
            *("runner", "base_url", "secret", "previous_secret", "remove_previous_secret"),
            *("runtimes", "max_timeout_seconds", "max_memory_mb", "network"),
        )
        labels = {
            "base_url": "Base URL",
            "max_timeout_seconds": "Maximum timeout (seconds)",
            "max_memory_mb": "Maximum memory (MB)",
        }

    def clean_base_url(self) -> str:
        base_url: str = self.cleaned_data["base_url"].rstrip("/")
        if base_url and not is_web_address(base_url):
            raise ValidationError(f"This {WEB_WORDS}.")
        return base_url

    def clean(self) -> dict[str, Any]:
        """Refuse an incomplete remote runner."""
        cleaned = super().clean() or {}
        if cleaned.get("runner") == SandboxSettings.Runner.HTTP:
            for name in ("base_url", "secret"):
                if name in cleaned and not cleaned[name]:
                    self.add_error(name, "A remote runner needs this.")
        return cleaned


@admin.register(SandboxSettings)
class SandboxSettingsAdmin(SingleRowAdmin):
    """The runner of sandbox runs, and the limits on runs."""

    timeout = quantity("Maximum timeout", "max_timeout_seconds", "s")
    memory = quantity("Maximum memory", "max_memory_mb", "MB")

    form = SandboxSettingsForm
    list_display = ("__str__", "runner", "address", "timeout", "memory", "network")

    @display(description="Base URL")
    def address(self, row: SandboxSettings) -> str:
        """Return the remote runner's URL."""
        return row.base_url or "-"
