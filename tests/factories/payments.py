"""Payments with the checkout that each came by."""

from datetime import datetime
from typing import Any

from django.utils import timezone

from billing.models import Checkout, CheckoutStatus
from billing.operations import ledger, wallets
from billing.rules.owners import Owner
from gateway.contract.ids import new_id


def top_up(owner: Owner, amount: int, product: str | None = None, now: datetime | None = None) -> Checkout:
    """Have a checkout of the owner's paid."""
    checkout = Checkout.objects.create(**paid(owner, amount, product, now or timezone.now()))
    wallets.take_payment(*owner, amount_microusd=amount, source=checkout.id, product=product)
    return checkout


def paid(owner: Owner, amount: int, product: str | None, now: datetime) -> dict[str, Any]:
    """Return the columns of a checkout that was paid."""
    checkout_id = new_id("txn")
    return {
        "id": checkout_id,
        "owner_kind": owner[0],
        "owner_key": owner[1],
        "kind": "top_up",
        "product": product,
        "amount_microusd": amount,
        "idempotency_key": checkout_id,
        "requested_by": owner[1],
        "provider": "elsewhere",
        "is_live": False,
        "session_ref": f"cs_{checkout_id}",
        "url": "https://pay.example",
        "status": "paid",
        "paid_at": now,
    }


def take_back(owner: Owner, amount: int) -> ledger.Refund:
    """Have that much of the owner's payments refunded, the newest first; it must have paid as much."""
    taken = debt = 0
    for checkout in Checkout.objects.filter(
        owner_kind=owner[0], owner_key=owner[1], status=CheckoutStatus.PAID, product=None
    ).order_by("-created_at", "-id"):
        part = min(amount - taken - debt, (checkout.amount_microusd or 0) - checkout.taken_back_microusd)
        if part:
            refund = _take_back_of(checkout, part)
            taken, debt = taken + refund.taken_microusd, debt + refund.debt_microusd
    assert taken + debt == amount, "more than was ever paid"
    return ledger.Refund("taken", taken, debt)


def _take_back_of(checkout: Checkout, amount: int) -> ledger.Refund:
    checkout.movements += 1
    checkout.taken_back_microusd += amount
    checkout.save()
    source = f"{checkout.id}/{checkout.movements}"
    return wallets.take_back(*checkout.owner, amount_microusd=amount, source=source, payment=checkout.id)
