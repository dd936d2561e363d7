"""Closes accounts for good. The ledger's rows stay, named by the DID alone; everything else about the person is deleted.

What gives access and names the person goes in one transaction. What may be large is deleted after it by a job, which begins
again until all is done. Apps that this app must not import register their parts at start-up.
"""

from collections.abc import Iterable, Iterator
from datetime import datetime, timedelta
from typing import NamedTuple

from allauth.account.models import EmailAddress
from django.contrib.auth.hashers import make_password
from django.db import connection, transaction
from django.db.models import F, Q

from accounts.models import Account, Closing
from accounts.operations import notes, operator_log, sign_ins
from accounts.operations.addresses import addresses_of
from gateway.core.events.mail_people import recipient_of_address
from gateway.core.events.operations import mails
from gateway.core.events.operations.in_order import at_the_end

SETTLED_AFTER = timedelta(minutes=15)
"""How long after a closing the last of what was under way has ended, so that nothing is stored for the account any more."""


PROMPTLY = timedelta(minutes=5)  # no less than the interval of the job


class Obstacle(NamedTuple):
    """Why an account cannot be closed now, and what to do about it. `action` and `path` are a link, or empty."""

    reason: str
    action: str = ""
    path: str = ""


class CannotClose(Exception):
    """The account cannot be closed; nothing was changed."""

    def __init__(self, obstacles: Iterable[Obstacle]) -> None:
        self.obstacles = list(obstacles)
        super().__init__("; ".join(obstacle.reason for obstacle in self.obstacles))


class Part:
    """What an app contributes to a closing. `leave`, `lock` and `close` run in its transaction, in this order, `erase` in none."""

    def obstacles(self, account: Account, now: datetime) -> Iterable[Obstacle]:
        """Return what keeps the account from being closed. Within a closing, `lock` has been called."""
        return ()

    def credits_microusd(self, account: Account, now: datetime) -> int:
        """Return what is given up with the account, in micro-USD."""
        return 0

    def leave(self, account: Account, now: datetime) -> None:
        """Do what takes locks that must be taken before the account's own. Raises CannotClose."""

    def lock(self, account: Account) -> None:
        """Take the locks that the obstacles depend on."""

    def close(self, account: Account, now: datetime) -> None:
        """Do what belongs into the transaction."""

    def erase(self, account: Account) -> None:
        """Delete what is stored for the account, in transactions of its own. Repeated until nothing is stored any more."""


_parts: dict[str, Part] = {}


def register(name: str, part: Part) -> None:
    """Register an app's part, once by its name."""
    _parts[name] = part


def obstacles(account: Account, now: datetime) -> list[Obstacle]:
    """List what keeps an account from being closed."""
    return list(_obstacles(account, now))


def credits_microusd(account: Account, now: datetime) -> int:
    """Return what the credits are worth that a closing gives up, in micro-USD."""
    return sum(part.credits_microusd(account, now) for part in _parts.values())


def close(*, account: Account, now: datetime) -> bool:
    """Close an account; return False if it is closed already. Raises CannotClose, and then nothing was changed.

    Credits are given up: the caller has asked. Whoever is just signing in, being paid or invited waits for the lock on the
    account, and then finds it closed. What the parts record is written last: nobody waits for a lock of this transaction while
    it waits for theirs.
    """
    with transaction.atomic(), at_the_end():
        for part in _parts.values():
            part.leave(account, now)
        operator_log.forget(account)
        mails.forget([account.did, *map(recipient_of_address, addresses_of(account))])
        EmailAddress.objects.filter(user=account).delete()  # before the account is locked, as everywhere
        current = Account.objects.select_for_update().get(pk=account.pk)
        if Closing.objects.filter(account=current).exists():
            return False
        for part in _parts.values():
            part.lock(current)
        if found := obstacles(current, now):
            raise CannotClose(found)
        _close(current, now)
        for part in _parts.values():
            part.close(current, now)
    return True


def stays_open(account: Account) -> bool:
    """Return whether an account is active; if it is, it is not closed before the caller's transaction ends. Where the lock waits
    for a closing, the row is looked at as the closing left it.

    Foreign keys are checked only when a transaction commits, so they do not keep a closing from missing a row.
    """
    with connection.cursor() as cursor:
        cursor.execute("SELECT 1 FROM accounts_account WHERE id = %s AND is_active FOR KEY SHARE", [account.pk])
        return cursor.fetchone() is not None


def erase(*, now: datetime) -> int:
    """Delete what is still stored for closed accounts; return how many of them are done with.

    This happens soon after an account was closed, and again once nothing that was under way then can store anything any more.
    """
    count = 0
    due = Q(closed_at__gt=now - PROMPTLY) | Q(closed_at__lte=now - SETTLED_AFTER)
    for closing in Closing.objects.filter(due, erased_at=None).select_related("account").order_by("closed_at"):
        for part in _parts.values():
            part.erase(closing.account)
        sign_ins.delete(closing.account, now=now)
        mails.forget([closing.account.did])
        if closing.closed_at <= now - SETTLED_AFTER:
            count += Closing.objects.filter(pk=closing.pk, erased_at=None).update(erased_at=now)
    return count


def _obstacles(account: Account, now: datetime) -> Iterator[Obstacle]:
    if account.is_staff or account.is_superuser:
        yield Obstacle("You are an operator of this service. Another operator must take away your rights first.")
    for part in _parts.values():
        yield from part.obstacles(account, now)


def _close(account: Account, now: datetime) -> None:
    """Delete how the person signs in and what names them, and leave the account suspended and inactive."""
    sign_ins.delete(account, now=now)
    Account.objects.filter(pk=account.pk).update(
        is_active=False,
        suspended_at=now,
        email=None,
        display_name="",
        password=make_password(None),
        last_login=None,
        session_epoch=F("session_epoch") + 1,
    )
    account.groups.clear()
    account.user_permissions.clear()
    notes.forget(account)
    operator_log.record_own(account, "Closed the account.", now=now)
    Closing.objects.create(account=account, closed_at=now)
