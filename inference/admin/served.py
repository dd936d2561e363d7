"""Shared parts of the pages of aliases and raw models: options, price, and the state of each route."""

from typing import Any

from django.contrib import messages
from django.db.models import OuterRef, QuerySet, Subquery
from django.db.models.functions import Collate
from django.http import HttpRequest
from django.urls import reverse
from django.utils import timezone
from django.utils.html import format_html, format_html_join
from unfold.decorators import display

from billing.models import PriceVersion
from billing.rules.prices import PriceList, show
from inference.admin.calculator import CalculatorPages
from inference.admin.model_facts import ModelFacts
from inference.admin.served_form import REPRESENTATIONS
from inference.admin.trial_pages import TrialPages
from inference.metering.obstacles import Model, RouteState, states_of
from inference.operations import retirements

CALLABLE = "can be called"


class ServedAdmin(TrialPages, CalculatorPages, ModelFacts):
    """A table of models for sale. Its list reads prices and upstreams once, however long it is."""

    readonly_fields = ("price", "routes", "settings", "health", "price_versions", "margin", "limits")
    actions_detail: tuple[str, ...] = ("try_it", "calculator")

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
        """Show price and routes of an existing model. Who may only look sees the options in one field."""
        own = [name for name in self.get_fields(request, obj) if name not in self.readonly_fields]
        if obj is not None and not self.has_change_permission(request, obj):
            form: Any = self.form
            shown = [*(name for name in own if name not in form.option_fields), "settings"]
            return [(None, {"fields": shown}), *self.facts(request)]
        own = [name for name in own if name not in REPRESENTATIONS]
        facts = self.facts(request)[1:] if obj else []
        options = ("Vectors", {"fields": REPRESENTATIONS, "classes": ("collapse",)})
        return [*([("Health", {"fields": ("health",)})] if obj else []), (None, {"fields": own}), *facts, options]

    @display(description="Settings", empty_value="-")
    def settings(self, model: Model) -> str | None:
        """List the options, for operators who may not change them."""
        return "; ".join(f"{name}: {value}" for name, value in model.options.items()) or None

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
