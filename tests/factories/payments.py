"""Payments, each by a checkout that the provider says is paid, refunded or disputed."""

from django.utils import timezone

from billing.models import Checkout, CheckoutStatus
from billing.operations import checkouts
from billing.operations.checkouts import Fetched
from billing.queries import wallets
from billing.rules.owners import Owner
from billing.rules.provider_records import Reversals, Session
from gateway.core.contract.ids import new_id


def top_up(owner: Owner, amount: int, product: str | None = None) -> Checkout:
    """Create a paid checkout of an owner."""
    checkout_id = new_id("txn")
    checkout = Checkout.objects.create(
        id=checkout_id,
        owner_kind=owner[0],
        owner_key=owner[1],
        kind="top_up",
        product=product,
        amount_microusd=amount,
        idempotency_key=checkout_id,
        requested_by=owner[1],
        provider="elsewhere",
        is_live=False,
        session_ref=f"cs_{checkout_id}",
        url="https://pay.example",
        status="open",
    )
    return _apply(checkout, Fetched(0, _paid(checkout), None))


def take_back(checkout: Checkout, total: int) -> Checkout:
    """Set how much of a payment is refunded or disputed in total by the provider's record."""
    checkout.refresh_from_db()
    return _apply(checkout, Fetched(checkout.checks, None, Reversals(total, 0)))


def refund(owner: Owner, amount: int) -> int:
    """Refund that much of an owner's payments, the newest first, and return how much of it became a debt."""
    debt = wallets.view(owner, timezone.now()).debt_microusd
    left = amount
    paid = Checkout.objects.filter(owner_kind=owner[0], owner_key=owner[1], status=CheckoutStatus.PAID, product=None)
    for checkout in paid.order_by("-created_at", "-id"):
        part = min(left, (checkout.amount_microusd or 0) - checkout.taken_back_microusd)
        take_back(checkout, checkout.taken_back_microusd + part)
        left -= part
    assert left == 0, "more than was ever paid"
    return wallets.view(owner, timezone.now()).debt_microusd - debt


def _apply(checkout: Checkout, seen: Fetched) -> Checkout:
    applied = checkouts.apply(checkout.id, seen, now=timezone.now())
    assert applied is not None
    assert applied.status == "paid"
    return applied


def _paid(checkout: Checkout) -> Session:
    return Session(
        ref=str(checkout.session_ref),
        url=None,
        status="complete",
        payment_status="paid",
        keeps_method=False,
        amount_microusd=checkout.amount_microusd,
        currency="usd",
        is_live=False,
        transaction_id=checkout.id,
        payment_ref=new_id("pi"),
        customer_ref=None,
        expires_at=None,
    )
