"""Set, pause and resume automatic top-up.

The wallet's lock guards the terms and the charges. `billing_begin_auto_top_up` decides whether a charge is due, wherever a
wallet's worth changes; here it is called when the terms change. `auto_top_up_charges` sends the charges.
"""

from dataclasses import asdict
from datetime import datetime
from math import ceil
from typing import Any

from django.conf import settings
from django.db import transaction
from django.db.models import Max

from billing.models import AutoTopUp, AutoTopUpCharge, AutoTopUpStatus, Wallet
from billing.operations import ledger
from billing.queries import auto_top_ups as queries
from billing.queries import locked, payment_methods
from billing.queries.auto_top_ups import Terms
from billing.rules import auto_top_ups as rules
from billing.rules.owners import Owner
from gateway.core.contract.errors import RateLimited
from gateway.core.events.operations.in_order import Happened, record

BATCH = 100


@transaction.atomic
def put(owner: Owner, terms: Terms, *, requested_by: str, now: datetime) -> AutoTopUp:
    """Set an owner's terms. Enabling ends a pause, unless an operator paused it, and begins a charge if the wallet is below the
    threshold. A charge that was not sent yet is dropped, as it has the former terms.

    Raises RateLimited if that would repeat a charge that was refused within the last minute.
    """
    wallet = locked.wallet(owner)
    row = AutoTopUp.objects.filter(pk=wallet.pk).first() or AutoTopUp(wallet=wallet)
    is_going_on = row.is_enabled and row.paused_at is None
    if terms.is_enabled and not is_going_on:
        _check_interval(wallet, now)
    _drop_waiting(wallet.pk)
    for name, value in asdict(terms).items():
        setattr(row, name, value)
    row.requested_by, row.changed_at = requested_by, now
    if terms.is_enabled and rules.may_resume(row.pause_reason):
        _resume(row, owner, now)
    row.save()
    _begin(wallet.pk, now)
    return row


@transaction.atomic
def disable(owner: Owner, *, now: datetime) -> None:
    """Turn automatic top-up off, if it is on; a charge that was sent is still followed up."""
    wallet = locked.wallet(owner)
    _drop_waiting(wallet.pk)
    AutoTopUp.objects.filter(pk=wallet.pk, is_enabled=True).update(is_enabled=False, changed_at=now)


@transaction.atomic
def pause(wallet_id: str, reason: str, *, now: datetime) -> bool:
    """Pause the automatic top-up of a wallet and tell its owner; return False if it is off or paused already."""
    wallet = Wallet.objects.select_for_update(no_key=True).get(pk=wallet_id)
    if not stop(wallet, reason, now):
        return False
    tell(wallet, "auto_top_up.paused", now, reason=reason)
    return True


@transaction.atomic
def resume(wallet_id: str, *, now: datetime) -> bool:
    """End any pause, an operator's too; return False if there is none."""
    wallet = Wallet.objects.select_for_update(no_key=True).get(pk=wallet_id)
    row = AutoTopUp.objects.filter(pk=wallet_id, paused_at__isnull=False).first()
    if row is None:
        return False
    _resume(row, (wallet.owner_kind, wallet.owner_key), now)
    row.save(update_fields=["paused_at", "pause_reason", "retry_at"])
    _begin(wallet_id, now)
    return True


def stop(wallet: Wallet, reason: str, now: datetime) -> bool:
    """Pause automatic top-up and drop what was not sent, in the caller's transaction, which holds the wallet's lock; return False if
    it is off or paused already. An operator's pause replaces any other, and keeps its owner from turning it on.
    """
    rows = AutoTopUp.objects.filter(pk=wallet.pk)
    is_own = reason == rules.OPERATOR
    rows = rows.exclude(pause_reason=reason) if is_own else rows.filter(is_enabled=True, paused_at=None)
    if not rows.update(paused_at=now, pause_reason=reason):
        return False
    _drop_waiting(wallet.pk)
    return True


def method_saved(owner: Owner, *, now: datetime) -> None:
    """Go on after a pause, because a payment method was saved. Joins the caller's transaction."""
    row = queries.of_owner(owner)
    if row is None:
        return
    locked.wallet(owner)
    row.refresh_from_db()
    if row.paused_at is None or not rules.may_resume(row.pause_reason):
        return
    AutoTopUp.objects.filter(pk=row.pk).update(paused_at=None, pause_reason=None, retry_at=None)
    _begin(row.pk, now)


def method_removed(owner: Owner, *, now: datetime) -> None:
    """Pause, because there is nothing to charge any more. Joins the caller's transaction, which holds the wallet's lock."""
    row = queries.of_owner(owner)
    if row is not None:
        stop(row.wallet, rules.NO_METHOD, now)


def payment_taken_back(owner: Owner, *, now: datetime) -> None:
    """Pause, because a refund or a dispute takes money out of the wallet: the owner's payment method must not be charged to fill it
    up again. Joins the caller's transaction, in which the wallet's lock follows.
    """
    row = queries.of_owner(owner)
    if row is not None:
        pause(row.pk, rules.TAKEN_BACK, now=now)


def begin_missed(*, now: datetime) -> int:
    """Begin the charges that are due and that no change of a wallet began; return how many."""
    begun = 0
    while rows := ledger.begin_auto_top_ups(now=now, limit=BATCH).rows():
        begun += len(rows)
    return begun


def tell(wallet: Wallet, event: str, now: datetime, **data: Any) -> None:
    """Record an event of automatic top-up, after all other locks of the caller's transaction."""
    owner = wallet.owner_kind, wallet.owner_key
    named = {"did" if owner[0] == "account" else "orgId": owner[1]}
    data = {**named, **data, "url": settings.PORTAL_URL + rules.page_of(owner)}
    record([Happened(*owner, event, data, now=now)])


def _resume(row: AutoTopUp, owner: Owner, now: datetime) -> None:
    """Make a row go on, or wait for a payment method if none is saved."""
    row.paused_at = row.pause_reason = row.retry_at = None
    if payment_methods.current(owner) is None:
        row.paused_at, row.pause_reason = now, rules.NO_METHOD


def _begin(wallet_id: str, now: datetime) -> None:
    ledger.begin_auto_top_up(wallet_id=wallet_id, now=now).run()


def _drop_waiting(wallet_id: str) -> None:
    AutoTopUpCharge.objects.filter(wallet=wallet_id, status=AutoTopUpStatus.WAITING).delete()


def _check_interval(wallet: Wallet, now: datetime) -> None:
    failed = AutoTopUpCharge.objects.filter(wallet=wallet, status=AutoTopUpStatus.FAILED)
    last = failed.aggregate(last=Max("ended_at"))["last"]
    if last is not None and abs(now - last) < rules.AT_OWNER:  # the clock may have been ahead
        wait = rules.AT_OWNER - (now - last)
        raise RateLimited(
            "The payment method was charged just now.", headers={"Retry-After": str(ceil(wait.total_seconds()))}
        )
