"""Form fields that pages of several apps share."""

from decimal import Decimal
from functools import partial
from typing import Any, Self

from django import forms

from gateway.core.contract.errors import ApiError, IdempotencyKeyReused
from gateway.core.contract.ids import new_id
from gateway.core.contract.limits import CENT_MICROUSD, CHECKOUT_MAX_MICROUSD, CHECKOUT_MIN_MICROUSD

MICRO = Decimal(1_000_000)
DIGITS_MAX = 12


class PaymentAmountField(forms.DecimalField):
    """An amount to pay, typed in dollars and cents; its value is whole micro-USD."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(
            label="Amount in US dollars",
            min_value=CHECKOUT_MIN_MICROUSD / MICRO,
            max_value=CHECKOUT_MAX_MICROUSD / MICRO,
            max_digits=DIGITS_MAX,
            decimal_places=2,
            help_text="From $1 to $10,000.",
            widget=forms.NumberInput({"inputmode": "decimal", "autocomplete": "off"}),
            **kwargs,
        )

    def clean(self, value: Any) -> Any:
        """Give micro-USD, a whole number of cents."""
        dollars: Decimal = super().clean(value)
        cents = int(dollars * 100)
        return cents * CENT_MICROUSD


class OnceForm(forms.Form):
    """A form whose every rendering has a name, `key`, so that sending it twice asks for one thing."""

    key = forms.RegexField(r"\Afrm_[0-9a-z]{26}\Z", widget=forms.HiddenInput, initial=partial(new_id, "frm"))

    def to_try_again(self, error: ApiError) -> Self:
        """Give the form as it was filled in, under its own key, unless that asked for something else before."""
        data = {name: self.data.get(name, "") for name in self.fields}
        if isinstance(error, IdempotencyKeyReused):
            data["key"] = new_id("frm")
        return self.__class__(data)
