"""Console pages for projects and their execution configurations."""

from typing import Any

import orjson
from django import forms
from django.contrib import admin
from django.utils import timezone
from unfold.admin import StackedInline
from unfold.decorators import display

from accounts.rules import dids
from gateway.core.console import ConsoleAdmin, PartyColumn, quantity
from gateway.core.contract.ids import new_id
from integrations.models import ExecutionConfig, Project
from organizations.models import Organization


class ProjectForm(forms.ModelForm):
    """Validates a project as the configuration file does."""

    class Meta:
        model = Project
        fields = ("key", "owner_kind", "owner_key", "product", "name")

    def clean(self) -> dict[str, Any]:
        """Refuse an owner that does not exist or is not a DID."""
        cleaned = super().clean() or {}
        kind, key = cleaned.get("owner_kind"), cleaned.get("owner_key")
        if kind == Project.OwnerKind.ACCOUNT and key and not dids.is_did(key):
            self.add_error("owner_key", "This is not a DID.")
        if kind == Project.OwnerKind.ORGANIZATION and key and not Organization.objects.filter(id=key).exists():
            self.add_error("owner_key", "There is no such organization.")
        return cleaned


class ExecutionConfigInline(StackedInline):
    """The project's execution configuration. Its owner sets it; only the owner can see the values of environment
    variables.
    """

    model = ExecutionConfig
    fields = readonly_fields = (
        *("runtime", "command_line", "variables", "timeout", "memory", "network", "version", "updated_at"),
    )
    timeout, memory = quantity("Timeout", "timeout_seconds", "s"), quantity("Memory", "memory_mb", "MB")
    verbose_name = verbose_name_plural = "execution configuration"
    can_delete = False

    def has_add_permission(self, request: Any, obj: Any = None) -> bool:
        return False

    def has_change_permission(self, request: Any, obj: Any = None) -> bool:
        return False

    def has_delete_permission(self, request: Any, obj: Any = None) -> bool:
        """Return False: it is deleted only with its project."""
        return False

    @display(description="Command")
    def command_line(self, config: ExecutionConfig) -> str:
        return "\n".join(config.command) or "-"

    @display(description="Environment variables")
    def variables(self, config: ExecutionConfig) -> str:
        """Return the variables' names, without their values."""
        return ", ".join(sorted(orjson.loads(config.environment or "{}"))) or "-"


@admin.register(Project)
class ProjectAdmin(ConsoleAdmin):
    """Projects, to which sandbox and CI runs belong."""

    owner = PartyColumn("Owner", "owner_key", kind_path="owner_kind")

    form = ProjectForm
    permanent_fields = ("key",)
    inlines = (ExecutionConfigInline,)
    list_display = ("name", "key", "owner", "product", "created_at")
    list_filter = ("owner_kind", "product")
    list_select_related = ("product",)
    search_fields = ("id__exact", "key", "name", "owner_key")
    party_fields = ("owner_key",)
    ordering = ("-created_at",)
    fields = ("key", "owner_kind", "owner_key", "product", "name")

    def get_inlines(self, request: Any, obj: Project | None) -> tuple[type[StackedInline], ...]:
        """Hide the configuration while a project is being added."""
        return self.inlines if obj else ()

    def save_model(self, request: Any, obj: Project, form: Any, change: bool) -> None:
        if not change:
            obj.id, obj.created_at = new_id("prj"), timezone.now()
        super().save_model(request, obj, form, change)
