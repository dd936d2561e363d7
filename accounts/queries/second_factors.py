"""Queries for one person's second factors."""

from allauth.account.models import EmailAddress
from allauth.mfa.models import Authenticator
from django.conf import settings

from accounts.models import Account


def has_passkey(account: Account) -> bool:
    """Return whether a person has a passkey."""
    return Authenticator.objects.filter(user=account, type=Authenticator.Type.WEBAUTHN).exists()


def await_verification(account: Account) -> bool:
    """Return whether second factors are refused until an email address is verified, which mail makes possible."""
    return settings.MAIL_IS_CONFIGURED and EmailAddress.objects.filter(user=account, verified=False).exists()
