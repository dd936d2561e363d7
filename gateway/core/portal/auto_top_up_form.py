"""The form of automatic top-up."""

from decimal import Decimal
from typing import Any

from django import forms

from gateway.core.contract.limits import AUTO_TOP_UP_MONTH_MAX_MICROUSD
from gateway.core.portal.forms import MICRO, PaymentAmountField


class AutoTopUpForm(forms.Form):
    """The terms of automatic top-up, typed in dollars and cleaned to whole micro-USD."""

    threshold = PaymentAmountField(
        required=True,
        label="When the wallet is below, in US dollars",
        min_value=Decimal("0.01"),
        help_text="Up to $10,000.",
    )
    amount = PaymentAmountField(required=True, label="Charge this amount, in US dollars")
    monthly_limit = PaymentAmountField(
        required=True,
        label="But at most per month, in US dollars",
        max_value=AUTO_TOP_UP_MONTH_MAX_MICROUSD / MICRO,
        help_text="No more is charged in a calendar month (UTC), whatever is spent.",
    )

    @classmethod
    def of(cls, *, threshold: int, amount: int, monthly_limit: int) -> "AutoTopUpForm":
        """Return the form with these terms, in micro-USD."""
        terms = {"threshold": threshold, "amount": amount, "monthly_limit": monthly_limit}
        return cls(initial={name: _dollars(value) for name, value in terms.items()})

    def clean(self) -> dict[str, Any]:
        """Check that a month has room for one charge."""
        found: dict[str, Any] = super().clean() or {}
        amount, limit = found.get("amount"), found.get("monthly_limit")
        if amount and limit and limit < amount:
            self.add_error("monthly_limit", "This is less than one charge.")
        return found


def _dollars(microusd: int) -> str:
    """Return whole dollars without decimals, and other amounts with at least two."""
    dollars = Decimal(microusd) / MICRO
    return f"{dollars:f}" if dollars == dollars.to_integral() or microusd % 10_000 else f"{dollars:.2f}"
