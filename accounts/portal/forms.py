"""The portal's forms that differ from django-allauth's."""

from typing import Any

from allauth.account import forms
from allauth.account.adapter import get_adapter
from django.db import transaction
from django.forms import BooleanField, CharField, Form, ModelForm, TextInput
from django.http import HttpRequest

from accounts.allauth_internals import record_authentication
from accounts.models import Account
from accounts.operations import addresses
from gateway.core.api.names import validate_name
from gateway.core.contract.amounts import usd
from gateway.core.contract.limits import ACCOUNT_NAME_MAX_CHARACTERS
from gateway.core.portal.forms import BudgetLimitField

NEW_PASSWORD = {"password1": "New password", "password2": "New password (again)"}


class SignupForm(forms.SignupForm):
    """Asks for a name as well, and allows an address that other accounts claim but none has verified: whoever verifies it
    gets it.
    """

    name = CharField(
        label="Name (optional)",
        required=False,
        max_length=ACCOUNT_NAME_MAX_CHARACTERS,
        validators=[validate_name],
        help_text="Apps and members of your organizations see it.",
        widget=TextInput(attrs={"autocomplete": "name"}),
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.order_fields(["email", "name", "password1"])

    def validate_unique_email(self, value: str) -> Any:
        """Refuse an address that another account owns."""
        if not addresses.is_open(value):
            return super().validate_unique_email(value)
        self.account_already_exists = False
        return get_adapter().validate_unique_email(value)

    def save(self, request: HttpRequest) -> Account:
        """Create the account. The new password counts as authentication, so it is not required again at once."""
        email = self.cleaned_data["email"]
        with transaction.atomic():
            if addresses.is_open(email):
                addresses.clear_account_emails(email)
            account: Account = super().save(request)
            account.display_name = self.cleaned_data["name"]
            account.save(update_fields=["display_name"])
        record_authentication(request, account, method="password", reauthenticated=True)
        return account


class NameForm(ModelForm):
    """Changes the name that apps and members of organizations see."""

    class Meta:
        model = Account
        fields = ("display_name",)
        labels = {"display_name": "Name"}
        widgets = {"display_name": TextInput(attrs={"autocomplete": "name"})}


class ConsentForm(Form):
    """What a person allows an app on the consent page, apart from the scopes: a monthly budget in micro-USD, or None to keep what
    is set. The field shows the budget that is in force; sent back unchanged, it sets nothing, because the budget may have been
    changed meanwhile.
    """

    budget_usd = BudgetLimitField(
        label="Monthly budget in US dollars (optional)",
        required=False,
        show_hidden_initial=True,
        help_text="Calls of this app that would exceed it are refused. Leave it empty for no new limit. You can change it "
        "under Apps.",
    )

    def clean_budget_usd(self) -> int | None:
        return self.cleaned_data["budget_usd"] if "budget_usd" in self.changed_data else None


class CloseForm(Form):
    """Confirms that an account is closed for good and, if there are any, that its credits are given up."""

    gives_up_credits = BooleanField()
    understands = BooleanField(label="I understand that this cannot be undone.")

    def __init__(self, *args: Any, credits_microusd: int, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if credits_microusd:
            self.fields["gives_up_credits"].label = f"I give up my credits of {usd(credits_microusd)}."
        else:
            del self.fields["gives_up_credits"]


class ChangePasswordForm(forms.ChangePasswordForm):
    """Changes a password, with labels in sentence case."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        _label(self, oldpassword="Current password", **NEW_PASSWORD)


class ResetPasswordForm(forms.ResetPasswordForm):
    """Requests a link for a new password. An account that has no more than a claim to the address counts as none."""

    users: list[Account]

    def clean_email(self) -> str:
        email: str = super().clean_email()
        self.users = [account for account in self.users if addresses.may_reset(account, email)]
        return email


class ResetPasswordKeyForm(forms.ResetPasswordKeyForm):
    """Sets a new password after a reset link, with labels in sentence case."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        _label(self, **NEW_PASSWORD)


def _label(form: Form, **labels: str) -> None:
    for name, label in labels.items():
        form.fields[name].label = label
        form.fields[name].widget.attrs["placeholder"] = label
