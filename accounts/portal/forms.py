"""The portal's forms that differ from django-allauth's."""

from typing import Any

from allauth.account import forms
from allauth.account.adapter import get_adapter
from allauth.account.internal.flows.login import record_authentication
from django.db import transaction
from django.http import HttpRequest

from accounts.models import Account
from accounts.operations import addresses


class SignupForm(forms.SignupForm):
    """Takes an address that others claim but nobody has proven: whoever reads its mail gets it."""

    def validate_unique_email(self, value: str) -> Any:
        """Refuse an address that is somebody's."""
        if not addresses.is_open(value):
            return super().validate_unique_email(value)
        self.account_already_exists = False
        return get_adapter().validate_unique_email(value)

    def save(self, request: HttpRequest) -> Account:
        """Make the account. Whoever has just chosen the password is not asked for it again at once."""
        email = self.cleaned_data["email"]
        with transaction.atomic():
            if addresses.is_open(email):
                addresses.step_back(email)
            account: Account = super().save(request)
        record_authentication(request, account, method="password", reauthenticated=True)
        return account
