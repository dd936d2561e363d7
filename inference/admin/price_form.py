"""The form of a new price."""

from collections.abc import Callable
from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.utils import timezone
from unfold.widgets import (
    UnfoldAdminCheckboxSelectMultipleWidget,
    UnfoldAdminSelectWidget,
    UnfoldAdminTextareaWidget,
    UnfoldAdminTextInputWidget,
)

from billing.models import PriceVersion
from billing.queries.prices import in_force
from billing.rules.prices import COMPONENTS, PriceError, PriceList
from inference.admin.price_notation import read_bands, read_images, read_service_tiers
from inference.metering.obstacles import unsold_routes
from inference.models import Alias, RawModel
from inference.queries import aliases


def price_field(unit: str) -> forms.CharField:
    """Build the field of one component. Micro-USD per unit and USD per million units are the same number."""
    widget = UnfoldAdminTextInputWidget(attrs={"placeholder": "0.15", "inputmode": "decimal"})
    return forms.CharField(required=False, max_length=20, widget=widget, help_text=f"USD per million {unit}.")


def lines_field(label: str, placeholder: str, help_text: str) -> forms.CharField:
    """Build the field of what has one line each, in the form of `price_notation`."""
    widget = UnfoldAdminTextareaWidget(attrs={"rows": 3, "placeholder": placeholder})
    return forms.CharField(label=label, required=False, widget=widget, help_text=help_text)


class ConfirmationsField(forms.MultipleChoiceField):
    """The confirmed routes. The form determines which ones are required, so any text is accepted here."""

    def valid_value(self, value: str) -> bool:
        """Accept any text."""
        return True


class PriceForm(forms.ModelForm):
    """One field per component; a blank component is not sold."""

    alias = forms.ChoiceField(
        label="Alias or raw model",
        widget=UnfoldAdminSelectWidget(attrs={"data-starts-from-price": ""}),
        help_text="The form is filled with the current price.",
    )
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
    unsold = ConfirmationsField(required=False, label="Confirm", widget=forms.MultipleHiddenInput)

    class Meta:
        model = PriceVersion
        fields = ("alias",)

    class Media:
        js = ("gateway/console/price.js",)

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        names = [(name, name) for name in _sold_names()]
        self.fields["alias"].choices = [("", "Choose one"), *names]  # type: ignore[attr-defined]

    def clean(self) -> dict[str, Any]:
        """Read the components together, and refuse a price that would change nothing."""
        cleaned = super().clean() or {}
        cleaned["components"] = components = self._components(cleaned)
        try:
            prices = PriceList.parse(components)
        except PriceError as error:
            raise ValidationError(f"{error}.") from None
        current = in_force(cleaned.get("alias", ""), timezone.now())
        if not components or (current and PriceList.parse(current.components) == prices):
            raise ValidationError(
                "This is already the current price." if components else "A price must have at least one component."
            )
        self._confirm(cleaned.get("alias", ""), prices, cleaned.get("unsold", []))
        return cleaned

    def _confirm(self, name: str, prices: PriceList, confirmed: list[str]) -> None:
        """Refuse a price that leaves routes of the model unsold, until each of them is confirmed."""
        model = aliases.named(name)
        choices = {f"{name} {each.name}": each for each in (unsold_routes(model, prices) if model else ())}
        field = self.fields["unsold"]
        field.widget = UnfoldAdminCheckboxSelectMultipleWidget() if choices else forms.MultipleHiddenInput()
        field.choices = [(value, f"Take {each.path} offline") for value, each in choices.items()]  # type: ignore[attr-defined]
        for words in [str(unsold) for value, unsold in choices.items() if value not in confirmed]:
            self.add_error(
                None, f"{words[0].upper()}{words[1:]}. Nothing was published. Add a price for it, or confirm below."
            )

    def _components(self, cleaned: dict[str, Any]) -> dict[str, Any]:
        components: dict[str, Any] = {name: cleaned[name].strip() for name in COMPONENTS if cleaned.get(name)}
        for field, (component, read) in _LINES.items():
            if cleaned.get(field):
                try:
                    components[component] = read(cleaned[field])
                except ValidationError as error:
                    raise ValidationError({field: error.messages}) from None
        return components


_LINES: dict[str, tuple[str, Callable[[str], Any]]] = {
    "images": ("image", read_images),
    "bands": ("bands", read_bands),
    "service_tiers": ("service_tiers", read_service_tiers),
}

PRICE_FIELDS = tuple(name for name in PriceForm.base_fields if name not in ("alias", "unsold"))


def _sold_names() -> list[str]:
    aliases = Alias.objects.values_list("name", flat=True)
    return sorted({*aliases, *RawModel.objects.values_list("model", flat=True)})
