"""Console pages of raw models."""

from typing import Any

from django.contrib import admin
from django.core.exceptions import ValidationError
from django.db.models import OuterRef, QuerySet, Subquery, TextField, Value
from django.db.models.functions import Cast, Collate, Concat
from django.http import HttpRequest
from django.utils import timezone
from unfold.decorators import display

from billing.models import CostVersion
from billing.operations import costs
from billing.rules.prices import show
from inference.admin.cost_fields import COST_FIELDSETS, CostFields
from inference.admin.served import ServedAdmin
from inference.admin.served_form import REPRESENTATIONS, ServedForm
from inference.models import Alias, RawModel
from inference.queries.rows import RAW_PREFIX, deployment_id


class RawModelForm(CostFields, ServedForm):
    """Keeps aliases and raw models distinct: a request's `model` can name either."""

    class Meta:
        model = RawModel
        fields = ("model", "upstream", "integrations", "enabled", "max_output_tokens", "context_tokens")

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.show_cost(getattr(self.instance, "cost", None) or {})

    def clean_model(self) -> str:
        """Refuse the name of an alias."""
        model: str = self.cleaned_data["model"]
        if Alias.objects.filter(name=model).exists():
            raise ValidationError("This is the name of an alias.")
        return model


@admin.register(RawModel)
class RawModelAdmin(ServedAdmin):
    """Upstream models under their own names."""

    form = RawModelForm
    permanent_fields = ("model",)
    name_field = "model"
    fields = (
        *(
            "model",
            "upstream",
            "integrations",
            "enabled",
            "max_output_tokens",
            "context_tokens",
            "offered_routes",
        ),
        *("input_overhead_tokens", *REPRESENTATIONS),
    )
    list_display = ("model", "can_be_called", "upstream", "max_output_tokens", "context_tokens", "enabled")
    list_filter = ("enabled", "upstream")
    list_select_related = ("upstream",)
    search_fields = ("model",)
    ordering = ("model",)
    autocomplete_fields = ("integrations",)

    def get_queryset(self, request: HttpRequest) -> QuerySet[RawModel]:
        """Annotate each model's cost in force in the same statement."""
        key = Collate(Concat(Value(RAW_PREFIX), Cast(OuterRef("pk"), TextField())), "C")  # the collation of costs
        dated = CostVersion.objects.filter(deployment=key, effective_at__lte=timezone.now()).order_by("-effective_at")
        return super().get_queryset(request).annotate(cost=Subquery(dated.values("components")[:1]))

    def get_fieldsets(self, request: HttpRequest, obj: Any = None) -> Any:
        """Show the cost as fields, or in words to operators who may not change it."""
        *found, last = super().get_fieldsets(request, obj)
        if obj is None or self.has_change_permission(request, obj):
            return [*found, *COST_FIELDSETS, last]
        return [*found, last, ("Cost", {"fields": ("cost",)})]

    def save_model(self, request: HttpRequest, obj: RawModel, form: Any, change: bool) -> None:
        """Publish the cost with the row, from now on."""
        super().save_model(request, obj, form, change)
        costs.publish(deployment_id(obj), form.cleaned_data["cost"], now=timezone.now())

    @display(description="Cost")
    def cost(self, model: Any) -> str:
        """Render the cost in force, for operators who may not change it."""
        return show(model.cost or {})
