"""The form of a new price."""

import hashlib
from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.utils import timezone
from unfold.widgets import UnfoldAdminCheckboxSelectMultipleWidget, UnfoldAdminSelectWidget

from billing.models import PriceVersion
from billing.queries.model_usage import last_days
from billing.queries.prices import in_force
from billing.rules.price_impact import impact
from billing.rules.prices import PriceList, show
from inference.admin.price_fields import PriceFields
from inference.admin.price_review import review_of
from inference.metering.obstacles import unsold_routes
from inference.models import Alias, RawModel
from inference.queries import aliases


class ConfirmationsField(forms.MultipleChoiceField):
    """The confirmed routes. The form determines which ones are required, so any text is accepted here."""

    def valid_value(self, value: str) -> bool:
        """Accept any text."""
        return True


class PriceForm(PriceFields, forms.ModelForm):
    """A new price of a model. One that changes a price is published only after its changes were shown.

    `seen` names the change that the operator has seen: if the price in force or the new one is another, it is shown again.
    `review` is what is shown, None if nothing is.
    """

    alias = forms.ChoiceField(
        label="Alias or raw model",
        widget=UnfoldAdminSelectWidget(attrs={"data-starts-from-price": ""}),
        help_text="The form is filled with the current price.",
    )
    unsold = ConfirmationsField(required=False, label="Confirm", widget=forms.MultipleHiddenInput)
    seen = forms.CharField(required=False, widget=forms.HiddenInput)

    review: dict[str, Any] | None = None

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
        cleaned["components"] = components = self.components_of(cleaned)
        prices = self.prices_of(components)
        current = in_force(cleaned.get("alias", ""), timezone.now())
        if not components or (current and PriceList.parse(current.components) == prices):
            raise ValidationError(
                "This is already the current price." if components else "A price must have at least one component."
            )
        self._confirm(cleaned.get("alias", ""), prices, cleaned.get("unsold", []))
        if current and not self.errors:
            self._show(current, components, prices, cleaned.get("seen", ""))
        return cleaned

    def _show(self, current: PriceVersion, components: dict[str, Any], prices: PriceList, seen: str) -> None:
        """Refuse a change that the operator has not seen, and show it."""
        mark = hashlib.sha256(f"{current.pk} {show(components)}".encode()).hexdigest()
        if seen == mark:
            return
        data: Any = self.data.copy()  # type: ignore[attr-defined]
        data[self.add_prefix("seen")] = mark
        self.data = data
        usage = last_days(current.alias, timezone.now())
        brought = impact(usage, PriceList.parse(current.components), prices) if usage else None
        self.review = review_of(current, components, usage, brought)
        self.add_error(None, "Check what would change, then save again. Nothing was published yet.")

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


def _sold_names() -> list[str]:
    aliases = Alias.objects.values_list("name", flat=True)
    return sorted({*aliases, *RawModel.objects.values_list("model", flat=True)})
