"""Adds, changes and removes second factors one step at a time for each account. Each response of a factor works
once."""

import hashlib

from allauth.mfa.base.internal.flows import delete_dangling_recovery_codes
from allauth.mfa.models import Authenticator
from django.conf import settings
from django.core.cache import cache
from django.db import transaction

from accounts.models import Account


def lock(account: Account) -> Account:
    """Lock an account and its second factors until the transaction ends; return it as it is now.

    So a decision that depends on the existing factors (the first one? the last one? its codes?) still holds when it is
    carried out.
    """
    current = Account.objects.select_for_update(no_key=True).get(pk=account.pk)
    list(Authenticator.objects.select_for_update().filter(user=account).order_by("pk"))
    return current


@transaction.atomic
def remove(authenticator: Authenticator) -> None:
    """Remove a second factor, and with the last one the recovery codes, which would otherwise survive into the next
    enrolment."""
    account = lock(authenticator.user)
    authenticator.delete()
    delete_dangling_recovery_codes(account)


def spend(challenge: str) -> bool:
    """Record the use of a passkey's challenge; return False if any process has already accepted an answer to it."""
    digest = hashlib.sha256(challenge.encode()).hexdigest()
    return cache.add(f"passkey challenge:{digest}", True, timeout=settings.SESSION_COOKIE_AGE)


@transaction.atomic
def count(passkey: Authenticator, signatures: int, *, registered: int) -> bool:
    """Note how many signatures a passkey says it has made; return False if the number should be higher, because the
    passkey may have been copied.

    Passkeys that do not count always say 0. `registered` is what this one said when it was added. Web Authentication
    Level 2 section 7.2, step 21.
    """
    row = Authenticator.objects.select_for_update().get(pk=passkey.pk)
    before = row.data.get("signatures", registered)
    if signatures <= before:
        return bool(signatures == before == 0)
    row.data["signatures"] = signatures
    row.save(update_fields=["data"])
    return True
