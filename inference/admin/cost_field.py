"""The form field of what an upstream charges the operator, in the notation of the configuration file."""

import json
from typing import Any

from django.core.exceptions import ValidationError
from unfold.widgets import UnfoldAdminTextareaWidget

from billing.rules.prices import COMPONENTS, PriceError, PriceList
from gateway.core.console import ReadableJSONField, json_object

_PLACES = {name: place for place, name in enumerate(COMPONENTS)}

EXAMPLE = '{"input_token": "0.10", "output_token": "0.40"}'


class CostField(ReadableJSONField):
    """What the upstream charges, as a JSON object of components and decimal strings; empty if it is not known."""

    def __init__(self, **kwargs: Any) -> None:
        kwargs.setdefault("widget", UnfoldAdminTextareaWidget(attrs={"rows": 3, "placeholder": EXAMPLE}))
        kwargs.setdefault("required", False)
        kwargs.setdefault(
            "help_text",
            "What the upstream charges: USD per million units, in the notation of a price in the configuration file.",
        )
        super().__init__(**kwargs)

    def prepare_value(self, value: Any) -> Any:
        """Render a cost on one line, with its components in the order of a price; empty if there is none."""
        if not isinstance(value, dict):
            return super().prepare_value(value)
        ordered = sorted(value.items(), key=lambda component: _PLACES.get(component[0], len(_PLACES)))
        return json.dumps(dict(ordered), ensure_ascii=False) if ordered else ""

    def clean(self, value: Any) -> dict[str, Any]:
        """Read the components. Raises ValidationError, which names the component at fault."""
        components = json_object(super().clean(value))
        try:
            PriceList.parse(components)
        except PriceError as error:
            raise ValidationError(f"{error}.") from None
        return components
