"""Dialog forms for crediting or refunding an invoice."""

from django import forms
from django.core.exceptions import ValidationError
from unfold.forms import BaseDialogForm

from billing.operations import invoices
from gateway.core.console import DollarsField, ReasonField
from gateway.core.contract.ids import new_id
from gateway.core.contract.limits import CENT_MICROUSD


class CreditForm(BaseDialogForm):
    """The amount to return and the reason. The hidden key makes a form that is submitted twice credit once."""

    amount = DollarsField(label="Amount")
    reason = ReasonField()
    key = forms.RegexField(r"^cn_[0-9a-z]{26}$", widget=forms.HiddenInput, initial=lambda: new_id("cn"))


class RefundForm(CreditForm):
    """The amount that was refunded, in whole cents, and the reason."""

    def clean_amount(self) -> int:
        """Refuse an amount that the provider cannot refund."""
        amount: int = self.cleaned_data["amount"]
        if amount % CENT_MICROUSD:
            raise ValidationError(invoices.WHOLE_CENTS)
        return amount
