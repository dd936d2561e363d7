"""Records of a payment provider: sessions, saved payment methods, charges, refunds and disputes, connected accounts.

Amounts are micro-USD, times aware UTC. Adapters read a record and check its shape; rules compare it with the request.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

CURRENCY = "usd"
"""The only currency that is requested and accepted."""


@dataclass(frozen=True, slots=True)
class Session:
    """A hosted session in the provider's record.

    `status`: "open", "complete" or "expired". `payment_status`: "paid", "unpaid" or "no_payment_required".
    `keeps_method`: it saves a payment method and takes no money. `amount_microusd` is the amount due or paid. `url` is
    set while the session is open. The refs are the provider's ids of payment and customer.
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
class SavedMethod:
    """A payment method that a customer saved for later charges."""

    customer_ref: str
    method_ref: str


@dataclass(frozen=True, slots=True)
class Payment:
    """A charge of a saved payment method in the provider's record.

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
class Reversals:
    """The amounts of a payment taken by refunds and disputes so far; failed refunds and won disputes do not count."""

    refunded_microusd: int
    disputed_microusd: int

    @property
    def total_microusd(self) -> int:
        """Sum up both."""
        return self.refunded_microusd + self.disputed_microusd


@dataclass(frozen=True, slots=True)
class Movement:
    """One movement of the platform's balance for a payment: paid in (`is_payment`), taken back by a refund or a dispute
    (negative), or returned.

    `transaction_id` is the id that the provider stores with the payment, None if this record does not contain it.
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
    """Another party's account that the platform's key can access."""

    ref: str
    charges_enabled: bool
    details_submitted: bool
    metadata: Mapping[str, str] = field(default_factory=dict)
