"""Who reports CI runs, and of which repositories."""

from django.contrib import admin
from django.core.exceptions import ValidationError
from unfold.admin import TabularInline
from unfold.decorators import display

from gateway.core.console import ConsoleAdmin
from integrations.admin.forms import RotatingSecretForm
from integrations.models import CIProvider, CIRepository


class CIProviderForm(RotatingSecretForm):
    """A provider needs a secret: without one, anybody could report."""

    class Meta:
        model = CIProvider
        fields = ("name", "format", "secret", "previous_secret", "remove_previous_secret")

    def clean_secret(self) -> str:
        """Refuse a provider without a secret."""
        secret = super().clean_secret()
        if not secret:
            raise ValidationError("Enter the secret that the provider signs with.")
        return secret


class CIRepositoryInline(TabularInline):
    """Repositories and their projects."""

    model = CIRepository
    extra = 0
    fields = ("name", "project")
    autocomplete_fields = ("project",)
    hide_title = True


@admin.register(CIProvider)
class CIProviderAdmin(ConsoleAdmin):
    """Who reports CI runs."""

    form = CIProviderForm
    list_display = ("name", "format", "address", "accepted", "created_at")
    ordering = ("name",)
    inlines = (CIRepositoryInline,)
    search_fields = ("name",)

    @display(description="Webhook path")
    def address(self, provider: CIProvider) -> str:
        """Return where the provider sends its webhooks."""
        return f"/webhooks/ci/{provider.name}"

    @display(description="Secrets")
    def accepted(self, provider: CIProvider) -> str:
        """Return whether a previous secret is accepted too, in words."""
        return "New and previous" if provider.previous_secret else "One"
