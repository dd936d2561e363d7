"""The common part of the forms of aliases and raw models: routes and representation settings as fields."""

from typing import Any, ClassVar

from django import forms
from django.core.exceptions import ValidationError
from unfold.widgets import (
    UnfoldAdminCheckboxSelectMultipleWidget,
    UnfoldAdminIntegerFieldWidget,
    UnfoldAdminSelectWidget,
    UnfoldAdminTextInputWidget,
)

from billing.rules.quantities import QUANTITY_MAX
from gateway.core.api.names import validate_name
from gateway.core.console import OptionsForm
from gateway.core.contract.aliases import Route

DIMENSIONS_MAX = 65_536
LABEL_MAX_CHARACTERS = 120
REPRESENTATIONS = ("dimensions", "quantization", "normalized", "revision", "provider")


def number_field(label: str, help_text: str, least: int, most: int) -> forms.IntegerField:
    """Build the field of a whole number in this range, or of none."""
    widget = UnfoldAdminIntegerFieldWidget
    return forms.IntegerField(
        required=False, label=label, help_text=help_text, min_value=least, max_value=most, widget=widget
    )


def label_field(label: str, help_text: str) -> forms.CharField:
    """Build the field of a short text that callers see."""
    return forms.CharField(
        required=False,
        label=label,
        help_text=help_text,
        max_length=LABEL_MAX_CHARACTERS,
        validators=[validate_name],
        widget=UnfoldAdminTextInputWidget,
    )


def choice_field(label: str, help_text: str, blank: str, *names: str) -> forms.ChoiceField:
    """Build the field of one of these words, or of none."""
    choices = [("", blank), *((name, name) for name in names)]
    return forms.ChoiceField(
        required=False, label=label, help_text=help_text, choices=choices, widget=UnfoldAdminSelectWidget
    )


def routes_field(help_text: str) -> forms.MultipleChoiceField:
    """Build the field of routes."""
    return forms.MultipleChoiceField(
        required=False,
        label="Routes",
        choices=[(route, str(route)) for route in Route],
        widget=UnfoldAdminCheckboxSelectMultipleWidget,
        help_text=help_text,
    )


class ServedForm(OptionsForm):
    """Validates what aliases and raw models have in common."""

    option_fields: ClassVar = {
        "offered_routes": "routes",
        "input_overhead_tokens": "input_overhead_tokens",
        **{name: name for name in REPRESENTATIONS},
    }

    offered_routes = routes_field(
        "What the model can be called on. None: the routes of the service's alias of this name, otherwise the three of text."
    )
    input_overhead_tokens = number_field(
        "Tokens that the vendor adds",
        "The most input tokens that the upstream counts beyond what is sent, such as a text of its own before each prompt. They "
        "are held. Blank: what is known of the vendor.",
        0,
        QUANTITY_MAX,
    )
    dimensions = number_field("Dimensions", "The length of the model's vectors.", 1, DIMENSIONS_MAX)
    quantization = choice_field("Quantization", "The form of the vectors' numbers.", "Not stated", "float", "int8")
    normalized = choice_field("Normalized", "Whether the vectors have length 1.", "Not stated", "true", "false")
    revision = label_field("Revision", "The version of the weights, which callers see.")
    provider = label_field("Provider", "Who made the model, as callers see it. Blank: the adapter's name.")

    def shown(self, option: str, value: Any) -> Any:
        return str(value).lower() if option == "normalized" else value

    def stored(self, option: str, value: Any) -> Any:
        return {"true": True, "false": False}.get(value) if option == "normalized" else value

    def clean_revision(self) -> str:
        return _one_line(self.cleaned_data["revision"])

    def clean_provider(self) -> str:
        return _one_line(self.cleaned_data["provider"])


def _one_line(text: str) -> str:
    if len(text.splitlines()) > 1:
        raise ValidationError("This must be one line.")
    return text
