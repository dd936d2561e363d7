"""What a payment provider's record says: sessions, saved payment methods, charges, what was taken back, connected
accounts.

Amounts are micro-USD, times aware UTC. Adapters read it and check its shape; rules compare it with what was asked.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

CURRENCY = "usd"
"""The only currency that is asked for, and that is accepted."""


@dataclass(frozen=True, slots=True)
class Session:
    """A hosted session as the provider has it.

    `status`: "open", "complete" or "expired". `payment_status`: "paid", "unpaid" or "no_payment_required".
    `keeps_method`: it asks for a payment method and no money. `amount_microusd` is what the customer pays or paid.
    `url` is there while the session is open. The refs are the provider's ids of payment and customer.
    """

    ref: str
    url: str | None
    status: str
    payment_status: str
    keeps_method: bool
    amount_microusd: int | None
    currency: str | None
    is_live: bool
    transaction_id: str | None
    payment_ref: str | None
    customer_ref: str | None
    expires_at: datetime | None


@dataclass(frozen=True, slots=True)
class KeptMethod:
    """A payment method that a customer saved for later charges."""

    customer_ref: str
    method_ref: str


@dataclass(frozen=True, slots=True)
class Payment:
    """A charge of a saved payment method as the provider has it.

    `status`: "succeeded", "processing", "canceled", "requires_payment_method" (it was refused), "requires_action" (the
    customer must authenticate), "requires_confirmation" or "requires_capture". The failure's code and text are those of
    the last refusal.
    """

    ref: str
    status: str
    amount_microusd: int
    received_microusd: int
    currency: str
    is_live: bool
    transaction_id: str | None
    failure_code: str | None
    failure_reason: str | None


@dataclass(frozen=True, slots=True)
class TakenBack:
    """What refunds and disputes have taken of a payment so far; a failed refund or a dispute won counts no more."""

    refunded_microusd: int
    disputed_microusd: int

    @property
    def total_microusd(self) -> int:
        """Sum up both."""
        return self.refunded_microusd + self.disputed_microusd


@dataclass(frozen=True, slots=True)
class Movement:
    """One movement of the platform's balance by a payment: paid in (`is_payment`), taken back by a refund or a dispute
    (negative), or given back after all.

    `transaction_id` is what the provider keeps with the payment, None where this record does not say it.
    """

    ref: str
    is_payment: bool
    amount_microusd: int
    currency: str
    moved_at: datetime
    payment_ref: str | None
    transaction_id: str | None


@dataclass(frozen=True, slots=True)
class ConnectedAccount:
    """An account of somebody else that the platform's key reaches."""

    ref: str
    charges_enabled: bool
    details_submitted: bool
    metadata: Mapping[str, str] = field(default_factory=dict)
