"""Shared parts of the pages of aliases and raw models: options, price, and the state of each route."""

from typing import Any

from django import forms
from django.contrib import messages
from django.core.exceptions import ValidationError
from django.db.models import OuterRef, QuerySet, Subquery
from django.db.models.functions import Collate
from django.http import HttpRequest
from django.urls import reverse
from django.utils import timezone
from django.utils.html import format_html, format_html_join
from unfold.decorators import display

from billing.models import PriceVersion
from billing.rules.prices import PriceList, show
from billing.rules.quantities import QUANTITY_MAX
from gateway.core.console import ReadableJSONField, json_object
from inference.admin.routes import check_routes
from inference.admin.trial_pages import TrialPages
from inference.metering.obstacles import Model, RouteState, states_of
from inference.operations import retirements

CALLABLE = "can be called"


class ServedForm(forms.ModelForm):
    """Validates the options of aliases and raw models."""

    options = ReadableJSONField(required=False)

    def clean_options(self) -> dict[str, Any]:
        """Refuse unknown routes, and an overhead that is not a count, because every process reads them."""
        options = json_object(self.cleaned_data["options"])
        check_routes(options)
        overhead = options.get("input_overhead_tokens", 0)
        if type(overhead) is not int or not 0 <= overhead <= QUANTITY_MAX:  # a bool is an int to isinstance
            raise ValidationError("input_overhead_tokens must be a whole number, 0 or more.")
        return options


class ServedAdmin(TrialPages):
    """A table of models for sale. Its list reads prices and upstreams once, however long it is."""

    readonly_fields = ("price", "routes")
    actions_detail = ("try_it",)

    name_field = "name"

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        """Annotate each model's price in force in the same statement."""
        name = Collate(OuterRef(self.name_field), "C")  # the collation of prices, so that their index can be used
        dated = PriceVersion.objects.filter(alias=name, effective_at__lte=timezone.now()).order_by("-effective_at")
        return super().get_queryset(request).annotate(price_components=Subquery(dated.values("components")[:1]))

    def save_related(self, request: HttpRequest, form: Any, formsets: Any, change: bool) -> None:
        """Warn of routes that cannot be called with the saved settings, and record it if the model was disabled."""
        super().save_related(request, form, formsets, change)
        saved = self.get_queryset(request).get(pk=form.instance.pk)
        for state in _states(saved):
            if state.is_here and state.obstacles:
                self.message_user(request, "{} {}.".format(*_shown(state)), messages.WARNING)
        if change and "enabled" in form.changed_data and not form.instance.enabled:
            retirements.retire([str(form.instance)], now=timezone.now())

    def delete_model(self, request: HttpRequest, obj: Any) -> None:
        """Delete a model, and record it for those who used it."""
        super().delete_model(request, obj)
        if obj.enabled:
            retirements.retire([str(obj)], now=timezone.now())

    def delete_queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> None:
        """Delete models likewise."""
        names = [str(model) for model in queryset if model.enabled]
        super().delete_queryset(request, queryset)
        retirements.retire(names, now=timezone.now())

    def get_fieldsets(self, request: HttpRequest, obj: Any = None) -> Any:
        """Show price and routes of an existing model."""
        own = [name for name in self.get_fields(request, obj) if name not in ("price", "routes")]
        sold = ("Price and routes", {"fields": ("price", "routes")})
        return [(None, {"fields": own}), *([sold] if obj else [])]

    @display(description="Current price in USD per million")
    def price(self, model: Model) -> str:
        """Render the price in force, and link to the form of the next one."""
        components = _components(model)
        shown = "none" if components is None else show(components) or "nothing sold"
        link = reverse("admin:billing_priceversion_add", query={"alias": str(model)})
        return format_html('{}<br><a class="underline" href="{}">New price</a>', shown, link)

    @display(description="Routes")
    def routes(self, model: Model) -> str:
        """Show for each route whether it can be called, and if not, why."""
        return format_html_join("", '<div class="py-1"><code>{}</code>: {}</div>', map(_shown, _states(model)))

    @display(description="Can be called", label={"yes": "success", "partly": "warning", "no": "danger"})
    def can_be_called(self, model: Model) -> str:
        """Summarize whether the model's routes can be called."""
        found = [state.obstacles for state in _states(model) if state.is_here]
        if not all(found) and any(found):
            return "partly"
        return "no" if not found or any(found) else "yes"


def _components(model: Any) -> dict[str, Any] | None:
    components: dict[str, Any] | None = model.price_components
    return components


def _states(model: Model) -> list[RouteState]:
    components = _components(model)
    return states_of(model, None if components is None else PriceList.parse(components))


def _shown(state: RouteState) -> tuple[str, str]:
    return state.path, f"cannot be called: {'; '.join(state.obstacles)}" if state.obstacles else CALLABLE
