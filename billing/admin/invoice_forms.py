"""Dialog forms for crediting or refunding an invoice."""

from django import forms
from django.core.exceptions import ValidationError
from unfold.forms import BaseDialogForm
from unfold.widgets import UnfoldAdminIntegerFieldWidget

from billing.admin.forms import ReasonField
from billing.operations import invoices
from gateway.core.contract.ids import new_id
from gateway.core.contract.limits import CENT_MICROUSD


class CreditForm(BaseDialogForm):
    """The amount to return and the reason. The hidden key makes a form that is submitted twice credit once."""

    amount_microusd = forms.IntegerField(
        label="Amount in micro-USD",
        min_value=1,
        help_text="1 USD is 1,000,000 micro-USD.",
        widget=UnfoldAdminIntegerFieldWidget,
    )
    reason = ReasonField()
    key = forms.RegexField(r"^cn_[0-9a-z]{26}$", widget=forms.HiddenInput, initial=lambda: new_id("cn"))


class RefundForm(CreditForm):
    """The amount that was refunded, in whole cents, and the reason."""

    def clean_amount_microusd(self) -> int:
        """Refuse an amount that the provider cannot refund."""
        amount: int = self.cleaned_data["amount_microusd"]
        if amount % CENT_MICROUSD:
            raise ValidationError(invoices.WHOLE_CENTS)
        return amount
