"""Deletes everything by which a person and their apps sign in."""

from datetime import datetime

from allauth.account.models import EmailAddress
from allauth.mfa.models import Authenticator
from allauth.socialaccount.models import SocialAccount
from allauth.usersessions.models import UserSession
from django.contrib.sessions.models import Session
from django.db import transaction

from accounts.models import Account, AuthorizationCode, Consent, DeviceSession
from accounts.operations import session_ends


@transaction.atomic
def delete(account: Account, *, now: datetime) -> None:
    """Delete an account's addresses, second factors, identity providers, consents, codes, and sessions of browsers and apps.

    A code that is being redeemed is left, because that waits for the account.
    """
    keys = UserSession.objects.filter(user=account).values_list("session_key", flat=True)
    Session.objects.filter(session_key__in=list(keys)).delete()
    for of_user in (UserSession, EmailAddress, Authenticator, SocialAccount):
        of_user.objects.filter(user=account).delete()
    codes = AuthorizationCode.objects.filter(account=account)
    free = codes.select_for_update(skip_locked=True).order_by("pk").values_list("pk", flat=True)
    codes.filter(pk__in=list(free)).delete()
    session_ends.end(account.device_sessions.all(), now)
    for of_account in (DeviceSession, Consent):
        of_account.objects.filter(account=account).delete()
