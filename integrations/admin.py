"""The console's pages of the integrations: projects, who reports CI runs, what was reported, and the switches."""

from typing import Any

from django import forms
from django.contrib import admin
from django.core.exceptions import ValidationError
from django.utils import timezone
from unfold.admin import TabularInline
from unfold.decorators import display

from accounts.rules import dids
from gateway.core.addresses import WEB_WORDS, is_web_address
from gateway.core.console import ConsoleAdmin, LinesField, PartyColumn, ReadOnlyAdmin, SecretField, SingleRowAdmin
from gateway.core.contract.ids import new_id
from integrations.models import CIProvider, CIRepository, CIRun, IntegrationSwitch, Project, SandboxSettings
from organizations.models import Organization


class ProjectForm(forms.ModelForm):
    """Checks what the file checks."""

    class Meta:
        model = Project
        fields = ("key", "owner_kind", "owner_key", "product", "name")

    def clean(self) -> dict[str, Any]:
        """Refuse an owner that cannot be one."""
        cleaned = super().clean() or {}
        kind, key = cleaned.get("owner_kind"), cleaned.get("owner_key")
        if kind == Project.OwnerKind.ACCOUNT and key and not dids.is_did(key):
            self.add_error("owner_key", "This is not a DID.")
        if kind == Project.OwnerKind.ORGANIZATION and key and not Organization.objects.filter(id=key).exists():
            self.add_error("owner_key", "There is no such organization.")
        return cleaned


@admin.register(Project)
class ProjectAdmin(ConsoleAdmin):
    """What sandbox and CI runs belong to."""

    owner = PartyColumn("Owner", "owner_key", kind_path="owner_kind")

    form = ProjectForm
    list_display = ("name", "key", "owner", "product", "created_at")
    list_filter = ("owner_kind", "product")
    list_select_related = ("product",)
    search_fields = ("id__exact", "key", "name", "owner_key")
    ordering = ("-created_at",)

    def save_model(self, request: Any, obj: Project, form: Any, change: bool) -> None:
        """Give a new project its id and time."""
        if not change:
            obj.id, obj.created_at = new_id("prj"), timezone.now()
        super().save_model(request, obj, form, change)


class SecretForm(forms.ModelForm):
    """Takes a webhook's or runner's secret without ever showing it."""

    secret = SecretField(
        label="New secret", help_text="Stored encrypted and never shown. Leave blank to keep the stored secret."
    )

    def clean_secret(self) -> str:
        """Keep the stored secret where none was typed."""
        typed: str = self.cleaned_data["secret"].strip()
        return typed or self.instance.secret


class CIProviderForm(SecretForm):
    """A provider needs a secret: without one, anybody could report."""

    class Meta:
        model = CIProvider
        fields = ("name", "format", "secret")

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
    list_display = ("name", "format", "address", "created_at")
    ordering = ("name",)
    inlines = (CIRepositoryInline,)
    search_fields = ("name",)

    @display(description="Webhook path")
    def address(self, provider: CIProvider) -> str:
        """Return where the provider sends its webhooks."""
        return f"/webhooks/ci/{provider.name}"


@admin.register(CIRun)
class CIRunAdmin(ReadOnlyAdmin):
    """What providers reported."""

    list_display = ("external_id", "project", "provider", "ref", "status", "created_at", "finished_at")
    list_filter = ("status", "provider", "created_at")
    list_select_related = ("project", "provider")
    search_fields = ("id__exact", "external_id__exact", "commit__startswith")
    ordering = ("-created_at", "-id")
    fields = (
        *("id", "project", "provider", "external_id", "ref", "commit", "status", "url", "steps"),
        *("created_at", "updated_at", "finished_at"),
    )


class SandboxSettingsForm(SecretForm):
    """Checks what the file checks."""

    runtimes = LinesField(help_text="The names that an execution configuration may choose from, one per line.")

    class Meta:
        model = SandboxSettings
        fields = ("runner", "base_url", "secret", "runtimes", "max_timeout_seconds", "max_memory_mb", "network")
        labels = {"base_url": "Base URL"}

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


@admin.register(IntegrationSwitch)
class IntegrationSwitchAdmin(ConsoleAdmin):
    """Integrations that need nothing but to be allowed."""

    list_display = ("name", "enabled")
    ordering = ("name",)
