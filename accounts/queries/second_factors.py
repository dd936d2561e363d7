"""Queries for one person's second factors."""

from collections.abc import Iterable, Mapping
from typing import Any

from allauth.account.models import EmailAddress
from allauth.mfa.models import Authenticator
from django.conf import settings

from accounts.models import Account

TYPES = (Authenticator.Type.TOTP, Authenticator.Type.WEBAUTHN)
"""The second factors. Recovery codes replace one that was lost, and are no factor by themselves."""


def has_passkey(account: Account) -> bool:
    """Return whether a person has a passkey."""
    return Authenticator.objects.filter(user=account, type=Authenticator.Type.WEBAUTHN).exists()


def await_verification(account: Account) -> bool:
    """Return whether second factors are refused until an email address is verified, which mail makes possible."""
    return settings.MAIL_IS_CONFIGURED and EmailAddress.objects.filter(user=account, verified=False).exists()


def has_factor(account: Account) -> bool:
    """Return whether a person has a passkey or an authenticator app."""
    return Authenticator.objects.filter(user=account, type__in=TYPES).exists()


def is_last(factor: Authenticator) -> bool:
    """Return whether a passkey or an authenticator app is the only one that its person has."""
    others = Authenticator.objects.filter(user=factor.user_id, type__in=TYPES).exclude(pk=factor.pk)
    return factor.type in TYPES and not others.exists()


def has_passed(account: Account, records: Iterable[Mapping[str, Any]]) -> bool:
    """Return whether a session's records of authentication name a factor, or the recovery codes, that its person still has.

    A session whose factor was removed must pass another one.
    """
    used = {record.get("id") for record in records if record.get("method") == "mfa"}
    if not used:
        return False
    kept = dict(Authenticator.objects.filter(user=account).values_list("pk", "type"))
    return not used.isdisjoint(kept) and not set(TYPES).isdisjoint(kept.values())
