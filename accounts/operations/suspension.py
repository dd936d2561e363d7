"""Suspends and reactivates accounts. A suspended account's tokens and sessions are refused at once."""

from datetime import datetime

from django.db import transaction
from django.db.models import F

from accounts.models import Account, AuthorizationCode
from accounts.operations import devices
from gateway.core.events.operations.in_order import Happened, record


@transaction.atomic
def suspend(*, account: Account, now: datetime) -> bool:
    """Suspend an account and end its sessions permanently; return False if it is suspended already."""
    is_new = Account.objects.filter(pk=account.pk, suspended_at=None).update(suspended_at=now) > 0
    end_sessions(account=account, now=now)
    if is_new:
        record([Happened("account", account.did, "account.suspended", {"did": account.did}, now=now)])
    return is_new


@transaction.atomic
def end_sessions(*, account: Account, now: datetime) -> None:
    """End an account's portal and device sessions, its sign-ins in progress and its unredeemed authorization codes."""
    Account.objects.filter(pk=account.pk).update(session_epoch=F("session_epoch") + 1)
    AuthorizationCode.objects.filter(account=account, spent_at=None).update(spent_at=now)
    devices.revoke_all(account=account, now=now)


def unsuspend(*, account: Account) -> bool:
    """Lift a suspension, so that the account can sign in again; return False if there was none, or the account is closed."""
    suspended = Account.objects.filter(pk=account.pk, suspended_at__isnull=False, closing=None)
    return suspended.update(suspended_at=None) > 0
