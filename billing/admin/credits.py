"""Credits: granted by an operation, never edited."""

from typing import Any

from django import forms
from django.contrib import admin, messages
from django.core.exceptions import ValidationError
from django.http import HttpRequest
from django.shortcuts import redirect
from django.utils import timezone
from unfold.decorators import display
from unfold.widgets import UnfoldAdminSelectWidget, UnfoldAdminTextInputWidget

from accounts.models import Account, Product
from accounts.operations import addresses
from accounts.queries.accounts import is_closed
from billing.admin.owners import OWNER, SEARCH_HELP
from billing.models import CreditLot, OwnerKind
from billing.operations.credits import GrantConflict, grant
from billing.operations.small_credits import left_microusd, may_grant
from gateway.core.console import DollarsField, ReadOnlyAdmin, ReasonField, money, parties
from gateway.core.contract.amounts import usd
from gateway.core.contract.ids import new_id

AMOUNT_MAX_MICROUSD = 10**12
SOURCE_KIND = "console"


class GrantForm(forms.ModelForm):
    """A credit to grant. The hidden key makes a form that is submitted twice grant once."""

    owner = forms.CharField(
        label="Owner",
        help_text="An email address, a DID or an organization ID.",
        widget=UnfoldAdminTextInputWidget,
    )
    amount = DollarsField(label="Amount", max_microusd=AMOUNT_MAX_MICROUSD)
    product = forms.ModelChoiceField(
        Product.objects.order_by("slug"),
        to_field_name="slug",
        required=False,
        empty_label="Any product",
        widget=UnfoldAdminSelectWidget,
    )
    reason = ReasonField()
    key = forms.RegexField(r"^crd_[0-9a-z]{26}$", widget=forms.HiddenInput, initial=lambda: new_id("crd"))

    operator: Account
    """Who grants it."""

    class Meta:
        model = CreditLot
        fields = ("expires_at",)

    class Media:
        js = ("gateway/console/dollars.js",)

    def clean_amount(self) -> int:
        """Refuse an amount beyond what the operator may grant today."""
        amount: int = self.cleaned_data["amount"]
        left = left_microusd(self.operator, now=timezone.now())
        if left is not None and amount > left and not self._was_sent():
            raise ValidationError(f"You may still grant {usd(left)} today. Let somebody of finance grant more.")
        return amount

    def _was_sent(self) -> bool:
        """Return whether this form has granted its credit already, so that nothing is granted once more."""
        return CreditLot.objects.filter(source_kind=SOURCE_KIND, source_key=str(self.data.get("key", ""))).exists()

    def clean_expires_at(self) -> Any:
        expires_at = self.cleaned_data["expires_at"]
        if expires_at and expires_at <= timezone.now():
            raise ValidationError("This time is in the past.")
        return expires_at

    def clean_owner(self) -> tuple[str, str]:
        """Return the owner's kind and key. An unknown owner is refused as a typo, because nobody could spend the
        credit."""
        typed: str = self.cleaned_data["owner"].strip()
        if "@" in typed and not typed.startswith("did:"):
            return OwnerKind.ACCOUNT, _holder_of(typed).did
        kind = OwnerKind.ACCOUNT if typed.startswith("did:") else OwnerKind.ORGANIZATION
        if parties.one(kind, typed) is None:
            raise ValidationError("No account or organization matches this. Enter an email address, a DID or an ID.")
        if kind == OwnerKind.ACCOUNT and is_closed(typed):
            raise ValidationError("This account was closed, so nobody could spend the credit.")
        return kind, typed


class LotAmounts:
    """The amounts of a credit, in its own list and on its wallet's page."""

    granted = money("Granted", "granted_microusd")
    remaining = money("Remaining", "remaining_microusd")
    held = money("Held", "held_microusd")


@admin.register(CreditLot)
class CreditLotAdmin(LotAmounts, ReadOnlyAdmin):
    """Every credit that was granted."""

    owner = OWNER
    form = GrantForm
    list_display = ("id", "owner", "product", "granted", "remaining", "held", "expires_at", "source", "created_at")
    list_filter = ("source_kind", ("closed_at", admin.EmptyFieldListFilter), "expires_at")
    list_select_related = ("wallet",)
    search_fields = ("id__exact", "source_key__exact", "wallet__owner_key__exact")
    party_fields = ("wallet__owner_key",)
    search_help_text = SEARCH_HELP
    ordering = ("-id",)
    fields = (
        "id",
        "owner",
        "product",
        "granted",
        "remaining",
        "held",
        "expires_at",
        "source",
        "created_at",
        "closed_at",
    )
    add_fieldsets = ((None, {"fields": ("owner", "amount", "product", "expires_at", "reason", "key")}),)

    def has_add_permission(self, request: HttpRequest) -> bool:
        return may_grant(request.user)  # type: ignore[arg-type]

    def get_form(self, request: HttpRequest, *args: Any, **kwargs: Any) -> Any:
        """Return a form that knows who grants."""
        return type("GrantFormOfOperator", (super().get_form(request, *args, **kwargs),), {"operator": request.user})

    def changeform_view(self, request: HttpRequest, *args: Any, **kwargs: Any) -> Any:
        """Show a new form if a submitted form was already used for a different credit."""
        try:
            return super().changeform_view(request, *args, **kwargs)
        except GrantConflict:
            self.message_user(
                request, "This form was already used to grant another credit. Fill in a new form.", messages.ERROR
            )
            return redirect("admin:billing_creditlot_add")

    def save_model(self, request: HttpRequest, obj: CreditLot, form: Any, change: bool) -> None:
        """Grant the credit with the operation, and show its lot."""
        values = form.cleaned_data
        obj.pk, form.is_new = grant(
            *values["owner"],
            amount_microusd=values["amount"],
            product=values["product"].slug if values["product"] else None,
            expires_at=values["expires_at"],
            source_kind=SOURCE_KIND,
            source_key=values["key"],
        )
        obj.refresh_from_db()

    def construct_change_message(self, request: HttpRequest, form: Any, formsets: Any, add: bool = False) -> Any:
        """Log the reason, and whether the form was submitted for the first time."""
        done = "Granted" if form.is_new else "Already granted"
        amount, reason = usd(form.cleaned_data["amount"]), form.cleaned_data["reason"]
        return f"{done} {amount} to {parties.one(*form.cleaned_data['owner'])}: {reason}"

    @display(description="Source")
    def source(self, lot: CreditLot) -> str:
        return f"{lot.source_kind}: {lot.source_key}"


def _holder_of(email: str) -> Account:
    """Return the account that has verified an email address. An unverified address gets no money."""
    account = addresses.holder(email)
    if account is None:
        raise ValidationError("No account has verified this address. Enter the DID instead.")
    return account
