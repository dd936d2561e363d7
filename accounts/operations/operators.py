"""Creates operators: accounts with all permissions in the console."""

from datetime import datetime

from django.conf import settings
from django.db import transaction

from accounts.models import Account, Closing
from accounts.operations import addresses, devices, suspension
from accounts.rules.dids import portal_did
from gateway.core.contract.ids import new_id


class AccountClosed(Exception):
    """The account was closed, which cannot be undone."""


@transaction.atomic
def create(email: str, password: str) -> Account:
    """Create an operator's account, and end other accounts' unverified claims to its address."""
    addresses.release(email, keep=None)
    did = portal_did(settings.PORTAL_URL, new_id("acc"))
    return Account.objects.create_superuser(did, email, password, display_name="Operator")


@transaction.atomic
def promote(account: Account, password: str | None, *, now: datetime) -> list[str]:
    """Make an existing account an operator that can sign in; return a description of the changes. A new password ends
    its sessions. Raises AccountClosed for a closed account.
    """
    if Closing.objects.filter(account=account).exists():
        raise AccountClosed
    done = []
    if not (account.is_staff and account.is_superuser):
        account.is_staff = account.is_superuser = True
        done.append("given every right")
    if not account.is_active:
        account.is_active = True
        done.append("activated")
    if password is not None:
        account.set_password(password)
        done.append("given the new password and signed out everywhere")
    account.save()
    if suspension.unsuspend(account=account):
        done.append("unsuspended")
    if password is not None:
        devices.revoke_all(account=account, now=now)  # last, because it locks the counter of the account's events
    return done
