"""What an upstream charges the operator, as fields of a deployment's or a raw model's form: those of a price, named `cost_…`."""

from collections.abc import Mapping
from copy import deepcopy
from typing import Any

from django import forms
from django.core.exceptions import NON_FIELD_ERRORS
from django.forms.utils import pretty_name

from inference.admin.price_fields import OFTEN, PRICE_FIELDS, ComponentsForm, initial_of

PREFIX = "cost_"


class CostFields(forms.Form):
    """The fields of a cost. `cleaned_data["cost"]` has its components; none if it is not known."""

    def show_cost(self, components: Mapping[str, Any]) -> None:
        """Show the cost in force."""
        self.initial.update({PREFIX + name: text for name, text in initial_of(components).items()})

    def clean(self) -> dict[str, Any]:
        """Read the components together. Errors are at the field of the component at fault, where that is known."""
        cleaned = super().clean() or {}
        stated = {name: cleaned.get(PREFIX + name) or "" for name in PRICE_FIELDS}
        form = ComponentsForm(stated)
        for name, errors in form.errors.as_data().items():
            self.add_error(None if name == NON_FIELD_ERRORS else PREFIX + name, errors)
        return {**cleaned, "cost": form.cleaned_data.get("components", {})}


def _field(name: str) -> forms.Field:
    field = deepcopy(ComponentsForm.base_fields[name])
    field.label = field.label or pretty_name(name)
    return field


# A form collects the declared fields of its bases, so these are fields of every form that inherits them.
CostFields.base_fields.update({PREFIX + name: _field(name) for name in PRICE_FIELDS})

COST_FIELDSETS = (
    ("Cost: what the upstream charges you. All blank: not known", {"fields": tuple(PREFIX + name for name in OFTEN)}),
    (
        "Cost of caches, sound, images, other units, bands and service tiers",
        {"fields": tuple(PREFIX + name for name in PRICE_FIELDS if name not in OFTEN), "classes": ("collapse",)},
    ),
)
