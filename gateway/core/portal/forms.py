"""Form fields shared by pages of several apps."""

import re
from decimal import Decimal
from functools import partial
from typing import Any, Self

from django import forms
from django.core.exceptions import ValidationError

from gateway.core.contract.amounts import usd
from gateway.core.contract.errors import ApiError, IdempotencyKeyReused
from gateway.core.contract.ids import new_id
from gateway.core.contract.limits import (
    BUDGET_LIMIT_MAX_MICROUSD,
    CENT_MICROUSD,
    CHECKOUT_MAX_MICROUSD,
    CHECKOUT_MIN_MICROUSD,
)

MICRO = Decimal(1_000_000)
DIGITS_MAX = 12
PLAIN_DECIMAL = re.compile(r"-?(\d+(\.\d*)?|\.\d+)", re.ASCII)
PRESETS = (10, 25, 50, 100)
"""The amounts offered on a page, in dollars."""


class PaymentAmountField(forms.DecimalField):
    """An amount to pay, typed in dollars and cents."""

    def __init__(self, **kwargs: Any) -> None:
        usual: dict[str, Any] = {
            "label": "Or another amount in US dollars",
            "min_value": CHECKOUT_MIN_MICROUSD / MICRO,
            "max_value": CHECKOUT_MAX_MICROUSD / MICRO,
            "help_text": "From $1 to $10,000.",
            "required": False,
        }
        super().__init__(
            max_digits=DIGITS_MAX,
            decimal_places=2,
            widget=forms.NumberInput({"inputmode": "decimal", "autocomplete": "off"}),
            **usual | kwargs,
        )

    def clean(self, value: Any) -> Any:
        """Return whole cents in micro-USD; None if nothing was entered."""
        dollars: Decimal | None = super().clean(value)
        return None if dollars is None else int(dollars * 100) * CENT_MICROUSD


class BudgetLimitField(forms.DecimalField):
    """The limit of a budget, typed in dollars."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(
            min_value=0,
            max_value=BUDGET_LIMIT_MAX_MICROUSD // MICRO,
            decimal_places=6,
            widget=forms.NumberInput({"inputmode": "decimal", "autocomplete": "off"}),
            **kwargs,
        )

    def to_python(self, value: Any) -> Any:
        """Read plain decimals alone, which a person types: neither exponents nor other scripts' digits."""
        typed = str(value or "").strip()
        if typed and not PLAIN_DECIMAL.fullmatch(typed):
            raise ValidationError(self.error_messages["invalid"], code="invalid")
        return super().to_python(typed)

    def clean(self, value: Any) -> Any:
        """Return micro-USD; None if nothing was entered."""
        dollars: Decimal | None = super().clean(value)
        return None if dollars is None else int(dollars * MICRO)


class LowBalanceForm(forms.Form):
    """The balance below which people are told. `amount` is in micro-USD; 0: never."""

    amount = BudgetLimitField(
        label="Alert when there is less than, in US dollars",
        help_text="0 turns this off. It is $1 until you change it.",
    )

    def __init__(self, data: Any, *, amount_microusd: int) -> None:
        super().__init__(data, initial={"amount": usd(amount_microusd).removeprefix("$").replace(",", "")})


class OnceForm(forms.Form):
    """A form with a `key` for each rendering, so that submitting it twice makes only one request."""

    key = forms.RegexField(r"\Afrm_[0-9a-z]{26}\Z", widget=forms.HiddenInput, initial=partial(new_id, "frm"))

    def to_try_again(self, error: ApiError) -> Self:
        """Return the form as it was filled in, with its key, unless the key was already used for a different
        request."""
        data = {name: self.data.get(name, "") for name in self.fields}
        if isinstance(error, IdempotencyKeyReused):
            data["key"] = new_id("frm")
        return self.__class__(data)


class AmountForm(OnceForm):
    """The amount to pay: one of the offered amounts, or another that is entered. `amount` is in whole micro-USD."""

    preset = forms.TypedChoiceField(
        label="Amount",
        choices=[(str(dollars), f"${dollars}") for dollars in PRESETS],
        coerce=int,
        empty_value=None,
        required=False,
        widget=forms.RadioSelect,
    )
    amount = PaymentAmountField()
    saves_method = forms.BooleanField(
        required=False,
        label="Save this card for automatic top-up",
        help_text="The payment provider saves it. It is charged later only if automatic top-up is on.",
    )

    def clean(self) -> dict[str, Any]:
        """Return the input. Two amounts are refused, because it is unclear which one was meant."""
        found: dict[str, Any] = super().clean() or {}
        preset, typed = found.get("preset"), found.get("amount")
        if preset and typed:
            self.add_error("amount", "You chose an amount and also entered one. Keep only one of them.")
        elif preset and "amount" in found:
            found["amount"] = int(preset * MICRO)
        elif not typed and "amount" not in self.errors:
            self.add_error("amount", "Choose or enter an amount.")
        return found
