"""How django-allauth makes and signs in our accounts."""

from typing import Any

from allauth.account.adapter import DefaultAccountAdapter
from allauth.core.exceptions import ImmediateHttpResponse
from allauth.socialaccount.adapter import DefaultSocialAccountAdapter
from django.conf import settings
from django.contrib import messages
from django.db import IntegrityError, transaction
from django.http import HttpRequest
from django.shortcuts import redirect
from django.urls import reverse
from django.utils import timezone
from django.utils.http import url_has_allowed_host_and_scheme

from accounts.models import Account
from accounts.operations import devices
from accounts.rules.dids import portal_did
from gateway.contract.ids import new_id
from gateway.contract.names import cleaned


class AccountAdapter(DefaultAccountAdapter):
    """Gives a portal account its own DID at birth; everything else is the library's."""

    def new_user(self, request: HttpRequest) -> Account:
        """Make an account that is not saved yet. Its wallet comes into being with its first use."""
        return Account(did=portal_did(settings.PORTAL_URL, new_id("acc")))

    def save_user(self, request: HttpRequest, user: Account, form: Any, commit: bool = True) -> Account:
        """Save a new account; of two sign-ups with one address at once, the second is led to sign in."""
        try:
            with transaction.atomic():
                return super().save_user(request, user, form, commit=commit)
        except IntegrityError:
            messages.error(request, "An account with this address was made just now. Sign in to it.")
            raise ImmediateHttpResponse(redirect("account_login")) from None

    def set_password(self, user: Account, password: str) -> None:
        """Set a changed or reset password, and sign every device out."""
        super().set_password(user, password)
        devices.revoke_all(account=user, now=timezone.now())

    def is_safe_url(self, url: str) -> bool:
        """Accept a `next` of this very site alone."""
        host = self.request.get_host()
        return url_has_allowed_host_and_scheme(url, allowed_hosts={host}, require_https=self.request.is_secure())

    def get_login_redirect_url(self, request: HttpRequest) -> str:
        """Lead home where no page waits."""
        return reverse("portal_home")


class SocialAccountAdapter(DefaultSocialAccountAdapter):
    """Takes the person's name from an identity provider; an e-mail address never links to an account that exists."""

    def populate_user(self, request: HttpRequest, sociallogin: Any, data: dict[str, Any]) -> Account:
        """Fill in a new account."""
        account = super().populate_user(request, sociallogin, data)
        account.display_name = cleaned(str(data.get("name") or ""))[:120]
        return account


def display_name(account: Account) -> str:
    """Name a signed-in person in messages: never by the DID, which is for machines."""
    return account.display_name or account.email or account.did
