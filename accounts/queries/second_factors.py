"""Reads of passkeys and other second factors, always of one person."""

from allauth.mfa.models import Authenticator

from accounts.models import Account


def has_passkey(account: Account) -> bool:
    """Return whether a person has a passkey."""
    return Authenticator.objects.filter(user=account, type=Authenticator.Type.WEBAUTHN).exists()
