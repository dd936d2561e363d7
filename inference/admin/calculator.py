"""The page that computes what a request to a model would hold and cost."""

from collections.abc import Mapping
from typing import Any

from django import forms
from django.http import Http404, HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.urls import reverse
from django.utils import timezone
from unfold.decorators import action
from unfold.widgets import UnfoldAdminIntegerFieldWidget, UnfoldAdminSelectWidget

from billing.models import PriceVersion
from billing.queries.prices import in_force
from billing.rules.charge_components import Component
from billing.rules.charge_parts import parts
from billing.rules.prices import PriceError, PriceList
from billing.rules.quantities import QUANTITY_MAX, MalformedUsage, Quantities
from billing.rules.quotes import quote
from gateway.core.console import ConsoleAdmin
from gateway.core.contract.amounts import usd

LABELS = {
    "input_tokens": ("Input tokens", "All of them, also those from a cache."),
    "cached_input_tokens": ("of them read from the cache", ""),
    "cache_write_tokens": ("of them written to the cache", ""),
    "cache_write_1h_tokens": ("of these written for an hour", ""),
    "input_audio_tokens": ("Input tokens of sound", "Part of the input tokens."),
    "output_tokens": ("Output tokens", ""),
    "output_audio_tokens": ("Output tokens of sound", "Part of the output tokens."),
    "images": ("Images", ""),
    "input_characters": ("Characters", ""),
    "seconds": ("Seconds of sound", ""),
    "input_bytes": ("Bytes of input", "Charged by the kilobyte of 1,000 bytes, rounded up."),
    "items": ("Items", ""),
}

NEEDED = {
    "input_tokens": ("input_token",),
    "cached_input_tokens": ("input_token", "cached_input_token"),
    "cache_write_tokens": ("input_token", "cache_write_token"),
    "cache_write_1h_tokens": ("input_token", "cache_write_1h_token"),
    "input_audio_tokens": ("input_audio_token",),
    "output_tokens": ("output_token",),
    "output_audio_tokens": ("output_audio_token",),
    "images": ("image",),
    "input_characters": ("input_character",),
    "seconds": ("audio_second",),
    "input_bytes": ("input_kilobyte",),
    "items": ("input_item",),
}
"""The components of which one must have a price for a quantity to matter."""

EXAMPLE = {"input_tokens": 1000, "output_tokens": 500, "images": 1, "input_characters": 1000, "seconds": 60}


def count_field(name: str) -> forms.IntegerField:
    """Build the field of a quantity."""
    label, words = LABELS[name]
    widget = UnfoldAdminIntegerFieldWidget
    return forms.IntegerField(
        required=False, label=label, help_text=words, min_value=0, max_value=QUANTITY_MAX, widget=widget
    )


class QuoteForm(forms.Form):
    """The quantities of a request, as far as a price has a component for them."""

    def __init__(self, prices: PriceList, versions: list[PriceVersion], *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.prices = prices
        self._choose(
            "price", "Price", [(str(each.pk), f"from {each.effective_at:%Y-%m-%d %H:%M} UTC") for each in versions]
        )
        known = {name for variant in prices.variants() for name in variant.components}
        for name, components in NEEDED.items():
            if known & set(components):
                self.fields[name] = count_field(name)
        if "output_tokens" in self.fields:
            self.fields["output_limit"] = forms.IntegerField(
                required=False,
                label="Output limit",
                help_text="The request's maximum, for the hold. Blank: as many as the output tokens.",
                min_value=0,
                max_value=QUANTITY_MAX,
                widget=UnfoldAdminIntegerFieldWidget,
            )
        if prices.images:
            self._choose("image_kind", "Size and quality", [(kind, kind) for kind in prices.images])
        if prices.service_tiers:
            self._choose(
                "service_tier", "Service tier", [("", "default"), *((name, name) for name in prices.service_tiers)]
            )

    def _choose(self, name: str, label: str, choices: list[tuple[str, str]]) -> None:
        self.fields[name] = forms.ChoiceField(
            required=False, label=label, choices=choices, widget=UnfoldAdminSelectWidget
        )

    def clean(self) -> dict[str, Any]:
        """Read the quantities together: parts must not be more than their whole."""
        cleaned = super().clean() or {}
        try:
            cleaned["used"] = used = Quantities(**self._quantities(cleaned))
            limit = cleaned.get("output_limit")
            output = used.output_tokens if limit is None else limit
            bound: dict[str, Any] = {"input_tokens": used.input_tokens, "output_tokens": output, "images": used.images}
            others = ("image_kind", "input_characters", "seconds", "input_bytes", "items")
            cleaned["bound"] = Quantities(**bound, **{name: getattr(used, name) for name in others})
        except MalformedUsage as error:
            words = str(error)
            self.add_error(None, f"{words[0].upper()}{words[1:]}.")
        return cleaned

    def _quantities(self, cleaned: Mapping[str, Any]) -> dict[str, Any]:
        found = {name: cleaned[name] for name in NEEDED if cleaned.get(name) is not None}
        kind = cleaned.get("image_kind") or next(iter(self.prices.images), None)
        return {**found, "image_kind": kind, "service_tier": cleaned.get("service_tier") or None}


class CalculatorPages(ConsoleAdmin):
    """A table of models with a calculator for each."""

    def has_calculate_permission(self, request: HttpRequest, object_id: str | None = None) -> bool:
        """Allow operators who may see the model."""
        return self.has_view_permission(request)

    @action(description="Calculator", icon="calculate", permissions=["calculate"])
    def calculator(self, request: HttpRequest, object_id: str) -> HttpResponse:
        """Show what a request would hold and cost at one of the model's prices."""
        model = self.get_object(request, object_id)
        if model is None:
            raise Http404
        versions = list(PriceVersion.objects.filter(alias=str(model)).order_by("-effective_at")[:100])
        current = in_force(str(model), timezone.now())
        chosen = next((each for each in versions if str(each.pk) == request.GET.get("price")), current)
        context = {
            **self.admin_site.each_context(request),
            "title": f"What would a request to {model} cost?",
            "opts": self.opts,
            "model": model,
            "page": reverse(f"admin:{self.opts.app_label}_{self.opts.model_name}_change", args=[model.pk]),
            "new_price": reverse("admin:billing_priceversion_add", query={"alias": str(model)}),
            **(_quoted(request, chosen, versions) if chosen else {"form": None}),
        }
        return TemplateResponse(request, "inference/calculator.html", context)


def _quoted(request: HttpRequest, version: PriceVersion, versions: list[PriceVersion]) -> dict[str, Any]:
    prices = PriceList.parse(version.components)
    form = QuoteForm(prices, versions)
    example = {name: EXAMPLE[name] for name in EXAMPLE if name in form.fields}
    given = {name: request.GET[name] for name in form.fields if name in request.GET}
    form = QuoteForm(prices, versions, {"price": version.pk, **(given if set(given) - {"price"} else example)})
    if not form.is_valid():
        return {"form": form}
    try:
        found = quote(form.cleaned_data["used"], form.cleaned_data["bound"], prices)
    except PriceError as error:
        form.add_error(None, f"{error}.")
        return {"form": form}
    return {
        "form": form,
        "quote": found,
        "charge": usd(found.charge_microusd),
        "hold": usd(found.hold_microusd),
        "charge_table": _table(found.charge),
        "hold_table": _table(found.hold),
    }


def _table(components: tuple[Component, ...]) -> dict[str, Any]:
    rows = [
        [part.name, f"{part.count:,}" if part.count is not None else "", f"{part.price} {part.per}", part.amount]
        for part in parts(components)
    ]
    return {"headers": ["What", "Number", "Price", "Amount"], "rows": rows}
