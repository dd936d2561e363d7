"""The fields of a price: one for each component, and one with a line for each band, service tier and kind of image."""

from collections.abc import Callable, Mapping
from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from unfold.widgets import UnfoldAdminTextareaWidget, UnfoldAdminTextInputWidget

from billing.rules.prices import COMPONENTS, PriceError, PriceList
from inference.admin.price_notation import (
    read_bands,
    read_images,
    read_service_tiers,
    show_bands,
    show_service_tiers,
)


def price_field(unit: str) -> forms.CharField:
    """Build the field of one component. Micro-USD per unit and USD per million units are the same number."""
    widget = UnfoldAdminTextInputWidget(attrs={"placeholder": "0.15", "inputmode": "decimal"})
    return forms.CharField(required=False, max_length=20, widget=widget, help_text=f"USD per million {unit}.")


class PriceLinesField(forms.CharField):
    """Prices that have one line each, in the form of `price_notation`. Browsers send other ends of lines than we show."""

    def has_changed(self, initial: Any, data: Any) -> bool:
        return (initial or "").splitlines() != (data or "").splitlines()


def lines_field(label: str, placeholder: str, help_text: str) -> PriceLinesField:
    """Build the field of what has one line each, in the form of `price_notation`."""
    widget = UnfoldAdminTextareaWidget(attrs={"rows": 3, "placeholder": placeholder})
    return PriceLinesField(label=label, required=False, widget=widget, help_text=help_text)


class PriceFields(forms.Form):
    """One field per component; a blank component is not sold."""

    input_token = price_field("tokens")
    cached_input_token = price_field("tokens")
    cache_write_token = price_field("tokens")
    cache_write_1h_token = price_field("tokens")
    output_token = price_field("tokens")
    input_audio_token = price_field("tokens")
    output_audio_token = price_field("tokens")
    image = price_field("images")
    images = lines_field(
        "Images by size and quality",
        "1024x1024/high 40000",
        "Use this instead of one price per image. One per line: size/quality and its price in USD per million images.",
    )
    input_character = price_field("characters")
    audio_second = price_field("seconds")
    input_kilobyte = price_field("kilobytes")
    input_item = price_field("items")
    request = price_field("requests")
    bands = lines_field(
        "Bands",
        "200000 input_token 5 output_token 22.5",
        "Prices of long requests. One band per line: the number of input tokens above which it applies, then the prices "
        "that differ.",
    )
    service_tiers = lines_field(
        "Service tiers",
        "flex input_token 1.25 output_token 7.5",
        "Prices by the `service_tier` of the request. One per line: its name, then the prices that differ. A band of a tier has a "
        "line of its own: priority above 200000 input_token 10.",
    )

    def components_of(self, cleaned: Mapping[str, Any]) -> dict[str, Any]:
        """Return the price that the fields state. Raises ValidationError for the field whose lines cannot be read."""
        components: dict[str, Any] = {name: cleaned[name].strip() for name in COMPONENTS if cleaned.get(name)}
        for field, (component, read) in _LINES.items():
            if cleaned.get(field):
                try:
                    components[component] = read(cleaned[field])
                except ValidationError as error:
                    raise ValidationError({field: error.messages}) from None
        return components

    def prices_of(self, components: Mapping[str, Any]) -> PriceList:
        """Read a price. Raises ValidationError, at the field of the component at fault where that is known."""
        try:
            return PriceList.parse(components)
        except PriceError as error:
            words = f"{error}."
            name = words.partition(" ")[0].partition("[")[0].partition(".")[0]
            raise ValidationError({name: words} if name in self.fields else words) from None


_LINES: dict[str, tuple[str, Callable[[str], Any]]] = {
    "images": ("image", read_images),
    "bands": ("bands", read_bands),
    "service_tiers": ("service_tiers", read_service_tiers),
}

PRICE_FIELDS = tuple(PriceFields.base_fields)
OFTEN = ("input_token", "cached_input_token", "output_token")
"""The components that most models have a price for, which come first."""


class ComponentsForm(PriceFields):
    """A price, or a cost, which may be empty."""

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or {}
        cleaned["components"] = self.components_of(cleaned)
        self.prices_of(cleaned["components"])
        return cleaned

    @property
    def often(self) -> list[Any]:
        """Return the fields that most models need."""
        return [self[name] for name in OFTEN]

    @property
    def rest(self) -> list[Any]:
        """Return the other fields."""
        return [self[name] for name in self.fields if name not in OFTEN]

    @property
    def is_rest_open(self) -> bool:
        """Return whether one of the other fields was filled in, or is wrong."""
        return any(field.errors or field.value() for field in self.rest)


def initial_of(components: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields' values of a price."""
    initial = dict(components)
    if isinstance(initial.get("image"), dict):
        initial["images"] = "\n".join(f"{kind} {price}" for kind, price in initial.pop("image").items())
    shown = (("bands", show_bands), ("service_tiers", show_service_tiers))
    return initial | {name: show(initial[name]) for name, show in shown if name in initial}
