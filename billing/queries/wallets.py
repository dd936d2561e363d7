"""The wallet as its owner sees it."""

from dataclasses import dataclass
from datetime import datetime

from billing.models import CreditLot, Wallet
from billing.rules.lots import counted_microusd
from billing.rules.owners import Owner


@dataclass(frozen=True, slots=True)
class AvailableCredit:
    """One credit that still counts."""

    credit_id: str
    product: str | None
    granted_microusd: int
    remaining_microusd: int
    expires_at: datetime | None


@dataclass(frozen=True, slots=True)
class WalletBalance:
    """A wallet at an instant. available = balance + credits - held, and 0 while there is a debt.

    `held` is what all open calls hold, of balance and credits together. A credit that expired while a call holds some
    of it counts with just that part until the call closes.
    """

    balance_microusd: int
    credits_microusd: int
    held_microusd: int
    available_microusd: int
    debt_microusd: int
    credits: tuple[AvailableCredit, ...]


def view(owner: Owner, now: datetime) -> WalletBalance:
    """Read an owner's wallet and credits; an owner without a wallet has nothing."""
    kind, key = owner
    # One statement, so that the wallet and its credits are of the same instant.
    rows = list(
        CreditLot.objects.filter(wallet__owner_kind=kind, wallet__owner_key=key, closed_at=None)
        .select_related("wallet")
        .order_by("created_at", "id")
    )
    wallet = rows[0].wallet if rows else Wallet.objects.filter(owner_kind=kind, owner_key=key).first()
    return _view(wallet, rows, now) if wallet else WalletBalance(0, 0, 0, 0, 0, ())


def _view(wallet: Wallet, lots: list[CreditLot], now: datetime) -> WalletBalance:
    counting = tuple(credit for lot in lots if (credit := _credit(lot, now)).remaining_microusd > 0)
    total = sum(credit.remaining_microusd for credit in counting)
    held = wallet.held_microusd + sum(lot.held_microusd for lot in lots)
    return WalletBalance(
        balance_microusd=wallet.balance_microusd,
        credits_microusd=total,
        held_microusd=held,
        available_microusd=0 if wallet.debt_microusd else wallet.balance_microusd + total - held,
        debt_microusd=wallet.debt_microusd,
        credits=counting,
    )


def _credit(lot: CreditLot, now: datetime) -> AvailableCredit:
    return AvailableCredit(
        credit_id=lot.id,
        product=lot.product,
        granted_microusd=lot.granted_microusd,
        remaining_microusd=counted_microusd(lot.remaining_microusd, lot.held_microusd, lot.expires_at, now),
        expires_at=lot.expires_at,
    )
