"""Suspends accounts and lets them back in. A suspended account's tokens and sessions are refused from that instant."""

from datetime import datetime

from django.db import transaction
from django.db.models import F

from accounts.models import Account
from accounts.operations import devices


@transaction.atomic
def suspend(*, account: Account, now: datetime) -> bool:
    """Suspend an account and end its device and portal sessions for good; False where it is suspended already."""
    changes = {"suspended_at": now, "session_epoch": F("session_epoch") + 1}
    is_new = Account.objects.filter(pk=account.pk, suspended_at=None).update(**changes) > 0
    devices.revoke_all(account=account, now=now)
    return is_new


def unsuspend(*, account: Account) -> bool:
    """Let an account back in, to sign in anew; False where it was not suspended."""
    return Account.objects.filter(pk=account.pk, suspended_at__isnull=False).update(suspended_at=None) > 0
