"""Console pages for CI providers and their repositories."""

from typing import Any

from django.contrib import admin
from django.core.exceptions import ValidationError
from unfold.admin import TabularInline
from unfold.decorators import display

from gateway.core.console import ConsoleAdmin, RowForm
from integrations.admin.forms import RotatingSecretForm
from integrations.models import CIProvider, CIRepository
from integrations.queries import ci_runs
from integrations.rules.webhook_secrets import LENGTH_WORDS, SHARED_WORDS, is_long_enough, is_shared


class CIProviderForm(RotatingSecretForm):
    """Requires a secret; without one, anyone could send reports."""

    class Meta:
        model = CIProvider
        fields = ("name", "format", "secret", "previous_secret", "remove_previous_secret")

    def clean_secret(self) -> str:
        secret = super().clean_secret()
        if not secret:
            raise ValidationError("Enter the secret that the provider signs with.")
        self._check_length("secret")
        return secret

    def clean_previous_secret(self) -> str:
        self._check_length("previous_secret")
        return super().clean_previous_secret()

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or {}
        others = ci_runs.secrets_of_others(self.instance.pk)
        for name in ("secret", "previous_secret"):
            if is_shared([cleaned.get(name, "")], others):
                self.add_error(name, f"This {SHARED_WORDS}.")
        return cleaned

    def _check_length(self, name: str) -> None:
        """Check what was typed; a shorter secret that is stored already stays valid."""
        typed = self.cleaned_data[name].strip()
        if typed and not is_long_enough(typed):
            raise ValidationError(f"This {LENGTH_WORDS}.")


class CIRepositoryInline(TabularInline):
    """Repositories and their projects."""

    model = CIRepository
    form = RowForm
    extra = 0
    fields = ("name", "project")
    autocomplete_fields = ("project",)
    hide_title = True


@admin.register(CIProvider)
class CIProviderAdmin(ConsoleAdmin):
    """Providers that report CI runs."""

    form = CIProviderForm
    list_display = ("name", "format", "address", "accepted", "created_at")
    ordering = ("name",)
    inlines = (CIRepositoryInline,)
    search_fields = ("name",)

    @display(description="Webhook path")
    def address(self, provider: CIProvider) -> str:
        """Return the path of the provider's webhooks."""
        return f"/webhooks/ci/{provider.name}"

    @display(description="Secrets")
    def accepted(self, provider: CIProvider) -> str:
        """Describe whether a previous secret is accepted, too."""
        return "New and previous" if provider.previous_secret else "One"
