"""Records what becomes of payments into wallets. The caller holds the lock of the wallet, and takes no others after this."""

from datetime import datetime

from billing.models import Checkout, OwnerKind
from billing.queries import wallets
from gateway.core.events.operations.in_order import Happened, record


def received(checkout: Checkout, now: datetime) -> None:
    """Record that a checkout was just credited."""
    kind, key = checkout.owner
    data = {
        "orgId" if kind == OwnerKind.ORGANIZATION else "did": key,
        "transactionId": checkout.pk,
        "amountMicrousd": checkout.amount_microusd,
        "availableMicrousd": wallets.view(checkout.owner, now).available_microusd,
        "product": checkout.product,
        "requestedBy": checkout.requested_by,
    }
    record([Happened(kind, key, "payment.received", data, now=now)])
