"""Automatic top-up as an owner sees it, and the charges that a job has to look at."""

from dataclasses import dataclass
from datetime import datetime

from django.db import connection
from django.db.models import Q, QuerySet

from accounts.models import Account
from billing.models import (
    AutoTopUp,
    AutoTopUpCharge,
    Checkout,
    Invoice,
    InvoiceStatus,
    OwnerKind,
    ProviderEvent,
    Wallet,
)
from billing.queries import payment_methods
from billing.rules import auto_top_ups as rules
from billing.rules.auto_top_ups import AutoTopUpState
from billing.rules.charges import CHECK_MAX
from billing.rules.owners import Owner

LAST_CHARGES = 10


@dataclass(frozen=True, slots=True)
class Terms:
    """The terms of an owner's automatic top-up, or what is proposed to an owner who has never set any."""

    is_enabled: bool = False
    threshold_microusd: int = rules.DEFAULT_THRESHOLD_MICROUSD
    amount_microusd: int = rules.DEFAULT_AMOUNT_MICROUSD
    monthly_limit_microusd: int = rules.DEFAULT_MONTHLY_LIMIT_MICROUSD


@dataclass(frozen=True, slots=True)
class AutoTopUpView:
    """Automatic top-up of a wallet at an instant. `used_microusd` is what this UTC month's charges add up to."""

    terms: Terms
    state: AutoTopUpState
    pause_reason: str | None
    used_microusd: int
    method: Checkout | None


def of_owner(owner: Owner) -> AutoTopUp | None:
    """Return the owner's row, if there is one."""
    return AutoTopUp.objects.filter(wallet__owner_kind=owner[0], wallet__owner_key=owner[1]).first()


def view(owner: Owner, now: datetime) -> AutoTopUpView:
    """Read an owner's automatic top-up."""
    row = of_owner(owner)
    method = payment_methods.current(owner)
    terms = (
        Terms()
        if row is None
        else Terms(row.is_enabled, row.threshold_microusd, row.amount_microusd, row.monthly_limit_microusd)
    )
    is_paused = row is not None and row.paused_at is not None
    return AutoTopUpView(
        terms=terms,
        state=rules.state_of(is_enabled=terms.is_enabled, is_paused=is_paused, has_method=method is not None),
        pause_reason=row.pause_reason if row else None,
        used_microusd=0 if row is None else used_microusd(row.wallet_id, now),
        method=method,
    )


def used_microusd(wallet_id: str, now: datetime) -> int:
    """Return what was, or may still be, charged automatically in the UTC month of `now`."""
    return _number("SELECT billing_topped_up_in_month(%s, %s)", wallet_id, now)


def worth_microusd(wallet_id: str, now: datetime) -> int:
    """Return what a wallet is worth without its open holds."""
    return _number("SELECT billing_worth_of(%s, %s)", wallet_id, now)


def charges_of(owner: Owner) -> QuerySet[AutoTopUpCharge]:
    """Return an owner's charges, newest first."""
    rows = AutoTopUpCharge.objects.filter(wallet__owner_kind=owner[0], wallet__owner_key=owner[1])
    return rows.order_by("-created_at", "-id")


def due(provider: str, is_live: bool, now: datetime, limit: int) -> list[AutoTopUpCharge]:
    """Return the charges that are due to be sent, or looked up with a key of this mode, the longest due first."""
    mine = Q(provider=None) | Q(provider=provider, is_live=is_live)
    rows = AutoTopUpCharge.objects.filter(mine, is_due(now))
    return list(rows.select_related("wallet").order_by("next_check_at")[:limit])


def is_due(now: datetime) -> Q:
    """Select the charges whose time has come. One that is further ahead than any check is means that the clock was set back."""
    return Q(next_check_at__lte=now) | Q(next_check_at__gt=now + CHECK_MAX)


def of_event(event: ProviderEvent) -> AutoTopUpCharge | None:
    """Find the charge of an event by the event's own ids."""
    meant = Q(payment_ref=event.object_ref)
    if event.payment_ref is not None:
        meant |= Q(payment_ref=event.payment_ref)
    if event.transaction_id is not None:
        meant |= Q(id=event.transaction_id)
    return AutoTopUpCharge.objects.filter(meant, provider=event.provider).select_related("wallet").first()


def is_blocked(owner: Owner) -> bool:
    """Return whether an owner must not be charged: a suspended or closed account, an organization that is suspended or has an overdue
    invoice."""
    kind, key = owner
    if kind == OwnerKind.ACCOUNT:
        return not Account.objects.filter(did=key, is_active=True, suspended_at=None).exists()
    if Wallet.objects.filter(owner_kind=kind, owner_key=key, is_suspended=True).exists():
        return True
    return Invoice.objects.filter(org_id=key, status=InvoiceStatus.PAST_DUE).exists()


def _number(statement: str, wallet_id: str, now: datetime) -> int:
    with connection.cursor() as cursor:
        cursor.execute(statement, [wallet_id, now])
        [number] = cursor.fetchone()
    return int(number)
