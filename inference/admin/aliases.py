"""Console pages of aliases and their deployments."""

from typing import Any

from django.contrib import admin
from django.core.exceptions import ValidationError
from django.db.models import Count, Prefetch, QuerySet
from django.http import HttpRequest
from unfold.decorators import display

from inference.admin.deployments import DeploymentInline
from inference.admin.new_model import NewModelPages
from inference.admin.served import ServedAdmin
from inference.admin.served_form import REPRESENTATIONS, ServedForm
from inference.models import Alias, Deployment, RawModel


class AliasForm(ServedForm):
    """Keeps aliases and raw models distinct: a request's `model` can name either."""

    class Meta:
        model = Alias
        fields = ("name", "enabled", "max_output_tokens", "context_tokens")

    def clean_name(self) -> str:
        """Refuse the name of a raw model."""
        name: str = self.cleaned_data["name"]
        if RawModel.objects.filter(model=name).exists():
            raise ValidationError("This is the name of a raw model.")
        return name


@admin.register(Alias)
class AliasAdmin(ServedAdmin, NewModelPages):
    """The names under which clients call models."""

    form = AliasForm
    permanent_fields = ("name",)
    inlines = (DeploymentInline,)
    actions_list = ("new_model",)
    actions_detail = ("open_model", *ServedAdmin.actions_detail)
    fields = (
        *("name", "enabled", "max_output_tokens", "context_tokens", "offered_routes", "input_overhead_tokens"),
        *REPRESENTATIONS,
    )
    list_display = ("name", "can_be_called", "deployments", "max_output_tokens", "context_tokens", "enabled")
    list_filter = ("enabled", "deployments__upstream")
    search_fields = ("name",)
    ordering = ("name",)

    def get_queryset(self, request: HttpRequest) -> QuerySet[Alias]:
        """Count deployments in the same statement, and prefetch them with their upstreams."""
        counted = super().get_queryset(request).annotate(deployment_count=Count("deployments", distinct=True))
        return counted.prefetch_related(Prefetch("deployments", Deployment.objects.select_related("upstream")))

    @display(description="Deployments", ordering="deployment_count")
    def deployments(self, alias: Any) -> int:
        """Return the number of deployments."""
        return int(alias.deployment_count)
