"""A customer of the platform whose payments are matched with the provider's balance, days later."""

from datetime import UTC, datetime, time, timedelta
from typing import Any

from django.utils import timezone

from billing.models import Checkout, PaymentDifference
from billing.operations import checkouts, payment_matching
from gateway.core.contract.ids import new_id
from tests.support.stripe import FakeStripe

USD = 1_000_000
BALANCE = "/v1/balance_transactions"


def midnight() -> datetime:
    """Return the end of this UTC day."""
    return datetime.combine(timezone.now().date() + timedelta(days=1), time(), UTC)


def after_midnight(provider: FakeStripe) -> None:
    """Set the provider's clock forward to the next day's second hour."""
    provider.advance(
        int((midnight() + timedelta(hours=1) - timezone.now()).total_seconds()) - provider.store.ahead_seconds
    )


def match(after: timedelta = timedelta(hours=3)) -> dict[str, int]:
    """Match what is due that long after this day's end; zeros are left out."""
    return {name: count for name, count in payment_matching.match(now=midnight() + after).items() if count}


def begun(amount: int = 5 * USD) -> Checkout:
    """Begin a top-up."""
    owner = ("account", "did:web:studio.example:alice")
    terms: dict[str, Any] = {"kind": "top_up", "amount_microusd": amount, "product": None, "requested_by": owner[1]}
    return checkouts.begin_and_place(owner, now=timezone.now(), idempotency_key=new_id("key"), **terms)


def converged(checkout: Checkout) -> Checkout:
    """Ask the provider about it."""
    return checkouts.converge(checkout, now=timezone.now())


def paid(provider: FakeStripe, amount: int = 5 * USD) -> Checkout:
    """Pay and book a top-up."""
    checkout = begun(amount)
    provider.pay(str(checkout.session_ref))
    return converged(checkout)


def refund(provider: FakeStripe, checkout: Checkout, cents: int) -> None:
    """Refund that much of it at the provider."""
    provider.refund(str(checkout.session_ref), amount=cents)


def movement(provider: FakeStripe, checkout: Checkout) -> dict[str, Any]:
    """Return the balance transaction of a payment."""
    charge = provider.payments.charge_of(str(checkout.session_ref))
    return provider.get(charge["balance_transaction"])


def differences() -> list[tuple[str, str, bool]]:
    """List each difference found: the payment, its kind, and whether it is open."""
    rows = PaymentDifference.objects.select_related("closing").order_by("pk")
    return [(row.transaction_id, row.kind, not hasattr(row, "closing")) for row in rows]
