"""The names under which clients ask for models, and who serves them."""

from typing import Any

from django import forms
from django.contrib import admin
from django.core.exceptions import ValidationError
from django.db.models import Count, QuerySet
from django.http import HttpRequest
from unfold.admin import TabularInline
from unfold.decorators import display

from billing.rules.quantities import QUANTITY_MAX
from gateway.core.console import ConsoleAdmin, ReadableJSONField, json_object
from inference.admin.routes import check_routes
from inference.models import Alias, Deployment, RawModel


class DeploymentInline(TabularInline):
    """The ways to serve an alias."""

    model = Deployment
    extra = 0
    fields = ("upstream", "model", "priority", "weight", "enabled")


class ServedForm(forms.ModelForm):
    """Checks the options that aliases and raw models share."""

    options = ReadableJSONField(required=False)

    def clean_options(self) -> dict[str, Any]:
        """Refuse routes that do not exist, and an overhead that is no count: every process reads them."""
        options = json_object(self.cleaned_data["options"])
        check_routes(options)
        overhead = options.get("input_overhead_tokens", 0)
        if type(overhead) is not int or not 0 <= overhead <= QUANTITY_MAX:  # a bool is an int to isinstance
            raise ValidationError("input_overhead_tokens is a whole number from 0.")
        return options


class AliasForm(ServedForm):
    """Keeps aliases and raw models apart: both are what `model` names in a request."""

    class Meta:
        model = Alias
        fields = ("name", "enabled", "max_output_tokens", "context_tokens", "options")

    def clean_name(self) -> str:
        """Refuse the name of a raw model."""
        name: str = self.cleaned_data["name"]
        if RawModel.objects.filter(model=name).exists():
            raise ValidationError("This is the name of a raw model.")
        return name


@admin.register(Alias)
class AliasAdmin(ConsoleAdmin):
    """The names under which clients ask for models."""

    form = AliasForm
    inlines = (DeploymentInline,)
    fields = ("name", "enabled", "max_output_tokens", "context_tokens", "options")
    list_display = ("name", "routes", "deployments", "max_output_tokens", "context_tokens", "enabled")
    list_filter = ("enabled", "deployments__upstream")
    search_fields = ("name",)
    ordering = ("name",)

    def get_queryset(self, request: HttpRequest) -> QuerySet[Alias]:
        """Count deployments in the same statement."""
        return super().get_queryset(request).annotate(deployment_count=Count("deployments", distinct=True))

    def get_readonly_fields(self, request: HttpRequest, obj: Alias | None = None) -> tuple[str, ...]:
        """Keep the name, under which prices and usage are kept."""
        return ("name",) if obj else ()

    @display(description="Routes")
    def routes(self, alias: Alias) -> str:
        """Name the routes that it serves."""
        return ", ".join(alias.served_routes())

    @display(description="Deployments", ordering="deployment_count")
    def deployments(self, alias: Any) -> int:
        """Count the ways to serve it."""
        return int(alias.deployment_count)
