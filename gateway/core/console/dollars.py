"""A form field for an amount in dollars."""

import re
from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from unfold.widgets import UnfoldAdminTextInputWidget

from gateway.core.contract.amounts import usd

DECIMALS_MAX = 6
DIGITS_MAX = 12

_TYPED = re.compile(r"(-?)\$?([0-9]+)(?:\.([0-9]+))?", re.ASCII)


class DollarsField(forms.CharField):
    """An amount typed in dollars (`5`, `5.00`, `$0.000042`) and returned in micro-USD, exactly.

    More than 6 decimals are refused, because they would have to be rounded, and so are commas, which mean thousands to some
    and decimals to others. The page shows the amount as it will be booked where it loads `dollars.js`.
    """

    def __init__(self, *, min_microusd: int = 1, max_microusd: int | None = None, **kwargs: Any) -> None:
        attrs = {"inputmode": "decimal", "placeholder": "5.00", "data-dollars": ""}
        kwargs.setdefault("widget", UnfoldAdminTextInputWidget(attrs=attrs))
        kwargs.setdefault("help_text", f"In dollars, with at most {DECIMALS_MAX} decimals.")
        super().__init__(**kwargs)
        self.min_microusd, self.max_microusd = min_microusd, max_microusd

    def clean(self, value: Any) -> int | None:
        """Return the amount in micro-USD; None if the field is not required and empty."""
        typed = super().clean(value)
        if not typed:
            return None
        amount = _microusd(typed)
        if amount < self.min_microusd:
            raise ValidationError(f"The amount must be at least {usd(self.min_microusd)}.")
        if self.max_microusd is not None and amount > self.max_microusd:
            raise ValidationError(f"The amount must be at most {usd(self.max_microusd)}.")
        return amount


def _microusd(typed: str) -> int:
    """Read an amount in dollars, or raise ValidationError."""
    found = _TYPED.fullmatch(typed)
    if found is None:
        raise ValidationError("Enter dollars as digits with a decimal point, such as 5.00.")
    sign, whole, fraction = found[1], found[2], found[3] or ""
    if len(fraction) > DECIMALS_MAX:
        raise ValidationError(f"An amount has at most {DECIMALS_MAX} decimals.")
    if len(whole) > DIGITS_MAX:
        raise ValidationError("This amount is too large.")
    amount = int(whole + fraction.ljust(DECIMALS_MAX, "0"))
    return -amount if sign else amount
