"""The console's pages of the integrations: projects, who reports CI runs, what was reported, and the switches."""

from typing import Any

from django import forms
from django.contrib import admin, messages
from django.core.exceptions import ValidationError
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils import timezone
from unfold.admin import TabularInline
from unfold.decorators import display
from unfold.widgets import UnfoldBooleanSwitchWidget

from accounts.rules import dids
from gateway.core.addresses import WEB_WORDS, is_web_address
from gateway.core.console import ConsoleAdmin, LinesField, PartyColumn, ReadOnlyAdmin, SecretField, SingleRowAdmin
from gateway.core.contract.ids import new_id
from integrations import tasks
from integrations.models import (
    CIProvider,
    CIRepository,
    CIRun,
    EvolutionJob,
    EvolutionProgram,
    IntegrationSwitch,
    Project,
    SandboxRun,
    SandboxSettings,
)
from integrations.operations import sandbox_runs
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
        """Set a new project's id and time."""
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

    previous_secret = SecretField(
        label="Previous secret",
        help_text="Accepted from the runner too, while it changes to the new one. Leave blank to keep what is stored.",
    )
    remove_previous_secret = forms.BooleanField(
        required=False, label="Remove the previous secret", widget=UnfoldBooleanSwitchWidget
    )

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

    def clean_previous_secret(self) -> str:
        """Keep the stored secret where none was typed."""
        typed: str = self.cleaned_data["previous_secret"].strip()
        return typed or self.instance.previous_secret

    def clean_base_url(self) -> str:
        """Refuse an address that signed requests must not be sent to."""
        base_url: str = self.cleaned_data["base_url"].rstrip("/")
        if base_url and not is_web_address(base_url):
            raise ValidationError(f"This {WEB_WORDS}.")
        return base_url

    def clean(self) -> dict[str, Any]:
        """Refuse a remote runner that is not complete."""
        cleaned = super().clean() or {}
        if cleaned.get("remove_previous_secret"):
            cleaned["previous_secret"] = ""
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


@admin.register(SandboxRun)
class SandboxRunAdmin(ReadOnlyAdmin):
    """What was executed in the sandbox, without what went in and came out: that is its owner's."""

    list_display = ("id", "project", "status", "exit_code", "created_at", "started_at", "finished_at")
    list_filter = ("status", "runner", "created_at")
    list_select_related = ("project",)
    search_fields = ("id__exact", "project__key", "project__name", "requested_by__exact")
    ordering = ("-created_at", "-id")
    fields = (
        *("id", "project", "runner", "requested_by", "status", "exit_code", "truncated", "error_code", "reason"),
        *("created_at", "started_at", "finished_at"),
    )
    actions = ("cancel",)

    @admin.action(description="Cancel the selected runs", permissions=["cancel"])
    def cancel(self, request: HttpRequest, queryset: QuerySet[SandboxRun]) -> None:
        """End the selected runs; those that are over stay as they are."""
        active = list(queryset.filter(status__in=SandboxRun.ACTIVE))
        for run in active:
            sandbox_runs.request_cancel(run)
            tasks.pass_on_cancel(run)
            self.log_change(request, run, "Cancelled.")
        messages.success(request, f"Runs cancelled: {len(active)}.")

    def has_cancel_permission(self, request: HttpRequest) -> bool:
        """Allow what the right to change runs allows, although no form changes one."""
        return request.user.has_perm("integrations.change_sandboxrun")


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


@admin.register(EvolutionJob)
class EvolutionJobAdmin(ReadOnlyAdmin):
    """What programs made of artifacts."""

    owner = PartyColumn("Owner", "owner_key", kind_path="owner_kind")

    list_display = ("id", "owner", "program", "status", "created_at", "finished_at")
    list_filter = ("status", "program", "created_at")
    search_fields = ("id__exact", "program__exact", "owner_key__exact")
    ordering = ("-created_at", "-id")
    fields = (
        *("id", "owner_kind", "owner_key", "requested_by", "program", "artifact_ids", "evidence_ids", "status"),
        *("result_artifact", "error_code", "reason", "created_at", "started_at", "finished_at"),
    )


@admin.register(IntegrationSwitch)
class IntegrationSwitchAdmin(ConsoleAdmin):
    """Integrations that need nothing but to be allowed."""

    list_display = ("name", "enabled")
    ordering = ("name",)
