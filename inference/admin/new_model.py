"""The page of a new model: name, upstream, price and cost in one form, which makes the rows at once."""

from typing import Any

from django import forms
from django.contrib import messages
from django.core.exceptions import ValidationError
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.template.response import TemplateResponse
from django.urls import reverse
from django.utils import timezone
from unfold.decorators import action
from unfold.widgets import UnfoldAdminSelectWidget, UnfoldAdminTextInputWidget

from billing.rules.prices import PriceList
from gateway.core.api.names import validate_name
from gateway.core.console import ConsoleAdmin, ReasonForm, dialog, may_act
from inference.admin.price_fields import ComponentsForm
from inference.admin.served_form import number_field, routes_field
from inference.metering.obstacles import unsold_routes
from inference.models import Alias, Upstream
from inference.models.alias import MODEL_NAME
from inference.operations import new_models
from inference.operations.new_models import NewModel, TakenError
from inference.queries.rows import deployment_id

RIGHTS = ("inference.add_alias", "inference.add_deployment", "billing.add_priceversion")
TOKENS_MAX = 100_000_000


class NewModelForm(forms.Form):
    """What a model is, beside its price and its cost."""

    name = forms.CharField(
        max_length=200,
        validators=[MODEL_NAME],
        widget=UnfoldAdminTextInputWidget(attrs={"placeholder": "fast"}),
        help_text="What clients ask for. It cannot be changed later.",
    )
    upstream = forms.ModelChoiceField(
        Upstream.objects.order_by("name"), widget=UnfoldAdminSelectWidget, help_text="Where it is served."
    )
    upstream_model = forms.CharField(
        label="The upstream's name for the model",
        max_length=200,
        validators=[validate_name],
        widget=UnfoldAdminTextInputWidget(attrs={"placeholder": "gpt-5-mini"}),
    )
    max_output_tokens = number_field("Most output tokens", "The upper bound of each answer.", 1, TOKENS_MAX)
    context_tokens = number_field("Context in tokens", "Input and output together.", 1, TOKENS_MAX)
    offered_routes = routes_field("What it can be called on. None: the three routes of text.")

    def clean_name(self) -> str:
        """Refuse a name that is taken."""
        name: str = self.cleaned_data["name"]
        if Alias.objects.filter(name=name).exists():
            raise ValidationError("This is the name of an alias.")
        return name

    @property
    def options(self) -> dict[str, Any]:
        """Return the options of the alias."""
        routes = self.cleaned_data.get("offered_routes")
        return {"routes": routes} if routes else {}


class NewModelPages(ConsoleAdmin):
    """The table of aliases, with the page of a new one, and the action that opens it."""

    def has_make_permission(self, request: HttpRequest) -> bool:
        """Allow operators who may add aliases, deployments and prices."""
        return request.user.has_perms(RIGHTS)

    def has_open_permission(self, request: HttpRequest, object_id: str | None = None) -> bool:
        """Allow operators who may change an alias to open a closed one."""
        return may_act(request, "inference.change_alias", Alias.objects.filter(enabled=False), object_id)

    @action(description="New model", icon="add_circle", url_path="new", permissions=["make"])
    def new_model(self, request: HttpRequest) -> HttpResponse:
        """Show the form, or make the model and lead on to the page that tries it."""
        data = request.POST or None
        form = NewModelForm(data, initial={"upstream": request.GET.get("upstream")})
        price, cost = ComponentsForm(data, prefix="price"), ComponentsForm(data, prefix="cost")
        if request.method == "POST" and all([form.is_valid(), price.is_valid(), cost.is_valid()]):
            _check_price(form, price)
            if form.is_valid() and price.is_valid() and (answer := self._make(request, form, price, cost)):
                return answer
        context = {
            **self.admin_site.each_context(request),
            "title": "New model",
            "opts": self.opts,
            "form": form,
            "price": price,
            "cost": cost,
            "has_upstreams": Upstream.objects.exists(),
            "new_upstream": reverse("admin:inference_upstream_add"),
        }
        return TemplateResponse(request, "inference/new_model.html", context)

    def _make(
        self, request: HttpRequest, form: NewModelForm, price: ComponentsForm, cost: ComponentsForm
    ) -> HttpResponse | None:
        stated = form.cleaned_data
        new = NewModel(
            name=stated["name"],
            upstream=stated["upstream"],
            upstream_model=stated["upstream_model"],
            price=price.cleaned_data["components"],
            cost=cost.cleaned_data["components"],
            options=form.options,
            max_output_tokens=stated["max_output_tokens"],
            context_tokens=stated["context_tokens"],
        )
        try:
            deployment = new_models.create(new, now=timezone.now())
        except TakenError as error:
            form.add_error("name", str(error))
            return None
        alias = deployment.alias
        self.log_addition(request, alias, f"Made with {new.upstream}/{new.upstream_model}, its price and its cost.")
        self.message_user(request, f"{alias} is made, and closed. Try it, then open it on its page.", messages.SUCCESS)
        page = reverse("admin:inference_alias_try_it", args=[alias.pk], query={"deployment": deployment_id(deployment)})
        return HttpResponseRedirect(page)

    @action(
        description="Open",
        icon="lock_open",
        url_path="open",
        permissions=["open"],
        dialog=dialog(
            "Open this model",
            "Clients can call it within 15 seconds, at its current price.",
            "Open",
            ReasonForm,
        ),
    )
    def open_model(self, request: HttpRequest, form: ReasonForm, object_id: str) -> HttpResponse:
        """Open the alias for calls."""
        if not new_models.open_alias(int(object_id)):
            return self.leave_dialog(request, object_id, "Somebody else has just opened it.", messages.INFO)
        return self.finish_dialog(request, form, object_id, "Opened")


def _check_price(form: NewModelForm, price: ComponentsForm) -> None:
    """Refuse a price that does not cover a route of the model."""
    components = price.cleaned_data["components"]
    if not components:
        price.add_error(None, "A price must have at least one component.")
        return
    alias = Alias(name=form.cleaned_data["name"], options=form.options)
    for unsold in unsold_routes(alias, PriceList.parse(components)):
        field = unsold.missing[0] if unsold.missing[0] in price.fields else None
        words = str(unsold)
        price.add_error(field, f"{words[0].upper()}{words[1:]}.")
