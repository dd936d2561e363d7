"""The portal's forms that differ from django-allauth's."""

from typing import Any

from allauth.account import forms
from allauth.account.adapter import get_adapter
from allauth.account.internal.flows.login import record_authentication
from django.db import transaction
from django.forms import Form
from django.http import HttpRequest

from accounts.models import Account
from accounts.operations import addresses

NEW_PASSWORD = {"password1": "New password", "password2": "New password (again)"}


class SignupForm(forms.SignupForm):
    """Allows an address that other accounts claim but none has verified: whoever verifies it gets it."""

    def validate_unique_email(self, value: str) -> Any:
        """Refuse an address that another account owns."""
        if not addresses.is_open(value):
            return super().validate_unique_email(value)
        self.account_already_exists = False
        return get_adapter().validate_unique_email(value)

    def save(self, request: HttpRequest) -> Account:
        """Create the account. The new password counts as authentication, so it is not asked for again at once."""
        email = self.cleaned_data["email"]
        with transaction.atomic():
            if addresses.is_open(email):
                addresses.clear_account_emails(email)
            account: Account = super().save(request)
        record_authentication(request, account, method="password", reauthenticated=True)
        return account


class ChangePasswordForm(forms.ChangePasswordForm):
    """Changes a password, with labels in sentence case."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        _label(self, oldpassword="Current password", **NEW_PASSWORD)


class ResetPasswordKeyForm(forms.ResetPasswordKeyForm):
    """Sets a new password after a reset link, with labels in sentence case."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        _label(self, **NEW_PASSWORD)


def _label(form: Form, **labels: str) -> None:
    for name, label in labels.items():
        form.fields[name].label = label
        form.fields[name].widget.attrs["placeholder"] = label
