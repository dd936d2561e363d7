"""Creates operators: accounts with every right in the console, or with a ready role."""

from datetime import datetime

from django.conf import settings
from django.db import transaction

from accounts.models import Account, Closing
from accounts.operations import addresses, devices, enrolments, operator_log, operator_roles, suspension
from accounts.rules.dids import portal_did
from gateway.core.contract.ids import new_id

SOURCE = "manage.py create_operator"


class AccountClosed(Exception):
    """The account was closed, which cannot be undone."""


class HasEveryRight(Exception):
    """The account has every right, which no role takes away."""


@transaction.atomic
def create(email: str, password: str, role: str | None = None, *, now: datetime) -> Account:
    """Create an operator's account, with every right or a role, and end other accounts' unverified claims to its address."""
    addresses.release(email, keep=None)
    did = portal_did(settings.PORTAL_URL, new_id("acc"))
    account = Account.objects.create_user(
        did, email, password, display_name="Operator", is_staff=True, is_superuser=role is None
    )
    if role is not None:
        operator_roles.give(account, role)
    operator_log.record([("created", _rights(role), account)], source=SOURCE, now=now)
    return account


@transaction.atomic
def promote(account: Account, password: str | None, role: str | None = None, *, now: datetime) -> list[str]:
    """Make an existing account an operator that can sign in; return a description of the changes. A new password ends
    its sessions. Raises AccountClosed for a closed account, and HasEveryRight if a role would take rights away.
    """
    if Closing.objects.filter(account=account).exists():
        raise AccountClosed
    if role is not None and account.is_superuser and account.is_staff:
        raise HasEveryRight
    done = _give_rights(account, role)
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
    _log(account, done, now)
    return done


@transaction.atomic
def reset_second_factor(account: Account, *, now: datetime) -> list[str]:
    """Remove an operator's second factors, because they were lost, and sign the operator out everywhere; return a description of
    the changes.
    """
    count = enrolments.reset(account, now=now)
    done = [f"freed of {count} second factor{'' if count == 1 else 's'} and signed out everywhere"] if count else []
    _log(account, done, now)
    return done


def _give_rights(account: Account, role: str | None) -> list[str]:
    """Make an account an operator, with every right or a role; return a description of the changes."""
    if role is None:
        if account.is_staff and account.is_superuser:
            return []
        account.is_staff = account.is_superuser = True
        return [f"given {_rights(None)}"]
    is_new = not account.is_staff
    account.is_staff, account.is_superuser = True, False
    return [f"given {_rights(role)}"] if operator_roles.give(account, role) or is_new else []


def _rights(role: str | None) -> str:
    return f"the role {role}" if role else "every right"


def _log(account: Account, done: list[str], now: datetime) -> None:
    operator_log.record([("updated", ", ".join(done), account)] if done else [], source=SOURCE, now=now)
