"""Records that a second factor was added, in the transaction that adds it."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime

from allauth.mfa.models import Authenticator

from accounts.models import Account
from gateway.core.events.operations.recording import record

TYPES = (Authenticator.Type.TOTP, Authenticator.Type.WEBAUTHN)


@contextmanager
def recorded(account: Account, *, now: datetime) -> Iterator[None]:
    """Record each passkey and authenticator app that the block adds; recovery codes come with the first of them.

    django-allauth's own signal is sent after the transaction, when a crash would lose it. The caller holds the lock on the
    account's factors (`enrolments.lock`).
    """
    factors = Authenticator.objects.filter(user=account, type__in=TYPES)
    before = set(factors.values_list("pk", flat=True))
    yield
    for added in factors.exclude(pk__in=before).order_by("pk"):
        data = {"did": account.did, "type": str(added.type), "factorId": added.pk}
        record(owner_kind="account", owner_key=account.did, type="second_factor.added", data=data, now=now)
