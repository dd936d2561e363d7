"""What an operator fills in on a customer's page."""

from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.utils import timezone
from unfold.forms import BaseDialogForm
from unfold.widgets import (
    UnfoldAdminIntegerFieldWidget,
    UnfoldAdminSelectWidget,
    UnfoldAdminSplitDateTimeVerticalWidget,
    UnfoldAdminTextareaWidget,
)

from accounts.models import Product
from accounts.models.note import NOTE_MAX_CHARACTERS
from gateway.core.console import DollarsField, ReasonField, ReasonForm
from gateway.core.contract.ids import new_id
from gateway.core.contract.limits import RATE_LIMIT_MAX

AMOUNT_MAX_MICROUSD = 10**12


class NoteForm(BaseDialogForm):
    """A note. The hidden key makes a form that is submitted twice write it once."""

    text = forms.CharField(
        label="Note",
        max_length=NOTE_MAX_CHARACTERS,
        widget=UnfoldAdminTextareaWidget(attrs={"rows": 6}),
        help_text="For operators. It is never shown to the customer, and cannot be changed.",
    )
    key = forms.RegexField(r"^note_[0-9a-z]{26}$", widget=forms.HiddenInput, initial=lambda: new_id("note"))


class CreditForm(ReasonForm):
    """A credit. The hidden key makes a form that is submitted twice grant it once."""

    amount = DollarsField(label="Amount", max_microusd=AMOUNT_MAX_MICROUSD)
    product = forms.ModelChoiceField(
        Product.objects.order_by("slug"),
        to_field_name="slug",
        required=False,
        empty_label="Any product",
        widget=UnfoldAdminSelectWidget,
    )
    expires_at = forms.SplitDateTimeField(
        label="Expires",
        required=False,
        widget=UnfoldAdminSplitDateTimeVerticalWidget,
        help_text="In UTC; empty: never.",
    )
    key = forms.RegexField(r"^crd_[0-9a-z]{26}$", widget=forms.HiddenInput, initial=lambda: new_id("crd"))
    field_order = ("amount", "product", "expires_at", "reason", "key")

    def clean_expires_at(self) -> Any:
        expires_at = self.cleaned_data["expires_at"]
        if expires_at and expires_at <= timezone.now():
            raise ValidationError("This time is in the past.")
        return expires_at


class LimitsForm(ReasonForm):
    """The customer's own limits. An empty number is no limit."""

    requests_per_minute = forms.IntegerField(
        label="Requests a minute",
        required=False,
        min_value=1,
        max_value=RATE_LIMIT_MAX,
        widget=UnfoldAdminIntegerFieldWidget,
    )
    tokens_per_minute = forms.IntegerField(
        label="Tokens a minute",
        required=False,
        min_value=1,
        max_value=RATE_LIMIT_MAX,
        widget=UnfoldAdminIntegerFieldWidget,
    )
    concurrent = forms.IntegerField(
        label="Calls at once",
        required=False,
        min_value=1,
        max_value=RATE_LIMIT_MAX,
        widget=UnfoldAdminIntegerFieldWidget,
    )
    reason = ReasonField()
    field_order = ("requests_per_minute", "tokens_per_minute", "concurrent", "reason")
