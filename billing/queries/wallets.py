"""Reads a wallet as its owner sees it."""

from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple

from billing.models import CreditLot, Wallet
from billing.rules.lots import counted_microusd
from billing.rules.owners import Owner


@dataclass(frozen=True, slots=True)
class AvailableCredit:
    """One credit that is open."""

    credit_id: str
    product: str | None
    granted_microusd: int
    remaining_microusd: int
    expires_at: datetime | None


@dataclass(frozen=True, slots=True)
class WalletBalance:
    """A wallet at an instant. available = balance + credits - held, and 0 while there is a debt.

    `held` is the total that open calls hold, of balance and credits. A credit that expired while a call holds part of
    it counts only with that part, until the call closes.
    """

    balance_microusd: int
    credits_microusd: int
    held_microusd: int
    available_microusd: int
    debt_microusd: int
    credits: tuple[AvailableCredit, ...]


# Columns, not model instances: there may be a thousand credits, and each would load the wallet.
_WALLET = ("balance_microusd", "held_microusd", "debt_microusd")
_CREDIT = ("id", "product", "granted_microusd", "remaining_microusd", "held_microusd", "expires_at")


def view(owner: Owner, now: datetime) -> WalletBalance:
    """Read an owner's wallet and credits; an owner without a wallet has nothing."""
    kind, key = owner
    # One statement, so that the wallet and its credits are read at the same instant.
    lots = CreditLot.objects.filter(wallet__owner_kind=kind, wallet__owner_key=key, closed_at=None)
    columns = (*(f"wallet__{name}" for name in _WALLET), *_CREDIT)
    rows = list(lots.order_by("created_at", "id").values_list(*columns))
    if rows:
        return _view(rows[0][: len(_WALLET)], [_Lot(*row[len(_WALLET) :]) for row in rows], now)
    wallet = Wallet.objects.filter(owner_kind=kind, owner_key=key).values_list(*_WALLET).first()
    return _view(wallet or (0, 0, 0), [], now)


class _Lot(NamedTuple):
    """The columns of an open credit that a view needs."""

    id: str
    product: str | None
    granted_microusd: int
    remaining_microusd: int
    held_microusd: int
    expires_at: datetime | None


def _view(wallet: tuple[int, ...], lots: list[_Lot], now: datetime) -> WalletBalance:
    balance, held, debt = wallet
    counting = tuple(credit for lot in lots if (credit := _credit(lot, now)).remaining_microusd > 0)
    total = sum(credit.remaining_microusd for credit in counting)
    held += sum(lot.held_microusd for lot in lots)
    return WalletBalance(
        balance_microusd=balance,
        credits_microusd=total,
        held_microusd=held,
        available_microusd=0 if debt else balance + total - held,
        debt_microusd=debt,
        credits=counting,
    )


def _credit(lot: _Lot, now: datetime) -> AvailableCredit:
    return AvailableCredit(
        credit_id=lot.id,
        product=lot.product,
        granted_microusd=lot.granted_microusd,
        remaining_microusd=counted_microusd(lot.remaining_microusd, lot.held_microusd, lot.expires_at, now),
        expires_at=lot.expires_at,
    )
