"""Queries for one person's passkeys."""

from allauth.mfa.models import Authenticator

from accounts.models import Account


def has_passkey(account: Account) -> bool:
    """Return whether a person has a passkey."""
    return Authenticator.objects.filter(user=account, type=Authenticator.Type.WEBAUTHN).exists()
