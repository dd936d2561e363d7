"""Serializes changes to an account's second factors, and accepts each response of a factor once."""

import hashlib
from datetime import datetime

from allauth.mfa.models import Authenticator
from django.conf import settings
from django.core.cache import cache
from django.db import transaction

from accounts.allauth_internals import delete_dangling_recovery_codes
from accounts.models import Account
from accounts.operations import suspension
from accounts.queries import second_factors


def lock(account: Account) -> Account:
    """Lock an account and its second factors until the transaction ends; return the account's current state.

    Decisions that depend on the existing factors (whether one is the first or the last, or has codes) then remain true
    until they are carried out.
    """
    current = Account.objects.select_for_update(no_key=True).get(pk=account.pk)
    list(Authenticator.objects.select_for_update().filter(user=account).order_by("pk"))
    return current


@transaction.atomic
def remove(authenticator: Authenticator, *, now: datetime) -> None:
    """Remove a second factor. With the last one, remove the recovery codes, too; otherwise they would still be valid at
    the next enrolment. An operator's sessions end with it, so that none of them adds the next one.
    """
    account = lock(authenticator.user)
    is_operators_last = (account.is_staff or account.is_superuser) and second_factors.is_last(authenticator)
    authenticator.delete()
    delete_dangling_recovery_codes(account)
    if is_operators_last:
        suspension.end_sessions(account=account, now=now)


@transaction.atomic
def reset(account: Account, *, now: datetime) -> int:
    """Remove a person's second factors and recovery codes, because they were lost; return how many factors there were.

    Their sessions end, so that only the next sign-in with a password can add the first factor again.
    """
    current = lock(account)
    factors = Authenticator.objects.filter(user=current)
    count = factors.exclude(type=Authenticator.Type.RECOVERY_CODES).count()
    factors.delete()
    suspension.end_sessions(account=current, now=now)
    return count


def spend(challenge: str) -> bool:
    """Record the use of a passkey challenge; return False if any process has already accepted a response to it."""
    digest = hashlib.sha256(challenge.encode()).hexdigest()
    return cache.add(f"passkey challenge:{digest}", True, timeout=settings.SESSION_COOKIE_AGE)


@transaction.atomic
def count(passkey: Authenticator, signatures: int, *, registered: int) -> bool:
    """Store a passkey's signature counter; return False if it has not increased, because the passkey may have been
    cloned.

    Passkeys without a counter always send 0. `registered` is the counter at registration. Web Authentication Level 2
    section 7.2, step 21.
    """
    row = Authenticator.objects.select_for_update().get(pk=passkey.pk)
    before = row.data.get("signatures", registered)
    if signatures <= before:
        return bool(signatures == before == 0)
    row.data["signatures"] = signatures
    row.save(update_fields=["data"])
    return True
