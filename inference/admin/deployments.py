"""The deployments of an alias, as rows on its page."""

from collections.abc import Mapping
from functools import cached_property
from typing import Any

from django import forms
from django.http import HttpRequest
from django.utils import timezone
from unfold.admin import StackedInline
from unfold.decorators import display

from billing.models import CostVersion
from billing.operations import costs
from billing.queries import costs as cost_queries
from billing.rules.prices import show
from inference.admin.cost_fields import COST_FIELDSETS, CostFields
from inference.models import Deployment
from inference.queries.rows import deployment_id


class DeploymentForm(CostFields, forms.ModelForm):
    """A deployment with what its upstream charges; `in_force` are the costs of all deployments by their ids."""

    class Meta:
        model = Deployment
        fields = ("upstream", "model", "priority", "weight", "enabled")

    def __init__(self, *args: Any, in_force: Mapping[str, CostVersion], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        version = in_force.get(deployment_id(self.instance)) if self.instance.pk else None
        self.show_cost(version.components if version else {})

    def save(self, commit: bool = True) -> Any:
        """Publish the cost with the row, from now on."""
        deployment = super().save(commit)
        costs.publish(deployment_id(deployment), self.cleaned_data["cost"], now=timezone.now())
        return deployment


class DeploymentFormSet(forms.BaseInlineFormSet):
    """The forms of an alias's deployments. Their costs are read at once."""

    @cached_property
    def in_force(self) -> dict[str, CostVersion]:
        """Return the costs in force of the stored deployments."""
        return cost_queries.current([deployment_id(row) for row in self.get_queryset()], timezone.now())

    def get_form_kwargs(self, index: int | None) -> dict[str, Any]:
        return {**super().get_form_kwargs(index), "in_force": self.in_force}


class DeploymentInline(StackedInline):
    """The deployments of an alias."""

    model = Deployment
    form = DeploymentForm
    formset = DeploymentFormSet
    extra = 0
    fields = ("upstream", "model", ("priority", "weight"), "enabled")
    readonly_fields = ("cost",)

    def get_fieldsets(self, request: HttpRequest, obj: Any = None) -> Any:
        """Show the cost as fields, or in words to operators who may not change it."""
        if self.has_change_permission(request, obj):
            return [(None, {"fields": self.fields}), *COST_FIELDSETS]
        return [(None, {"fields": (*self.fields, "cost")})]

    @display(description="Cost")
    def cost(self, deployment: Deployment) -> str:
        """Render the cost in force, for operators who may not change it."""
        version = cost_queries.in_force(deployment_id(deployment), timezone.now())
        return show(version.components) if version else ""
