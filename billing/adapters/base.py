"""The interface of a payment provider's adapter.

Amounts are micro-USD, times aware UTC. What an adapter returns is the provider's record at that moment, checked for
shape; whether it is what was asked is decided by `billing.rules.checkouts` and `billing.rules.invoices`.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from billing.rules.provider_records import ConnectedAccount, KeptMethod, Movement, Payment, Session, TakenBack


class ProviderError(Exception):
    """The provider gave no usable answer. The text is for the operator's log and holds no secret."""


class ProviderUnavailable(ProviderError):
    """No answer, or an invalid one: it is unknown whether the request was accepted, and it may be repeated."""


class ProviderRejected(ProviderError):
    """A definite refusal: the object does not exist, or this key may not access it."""


class SignatureInvalid(Exception):
    """The event is not the provider's, too old, dated in the future, or no event at all."""


@dataclass(frozen=True, slots=True)
class SessionRequest:
    """What a hosted session asks of the customer; `amount_microusd` None means to save a payment method.

    The transaction's id is also the key under which the provider makes at most one session of it.
    """

    transaction_id: str
    amount_microusd: int | None
    success_url: str
    cancel_url: str


@dataclass(frozen=True, slots=True)
class ChargeRequest:
    """What to charge a saved payment method, with nobody present.

    The payment's id is also the key under which the provider makes at most one charge of it.
    """

    payment_id: str
    amount_microusd: int
    customer_ref: str
    method_ref: str
    description: str


@dataclass(frozen=True, slots=True)
class Event:
    """A signed event: which object something happened to. `is_relevant`: it may concern a checkout or an invoice."""

    event_id: str
    type: str
    object_ref: str
    payment_ref: str | None
    transaction_id: str | None
    is_relevant: bool


class PaymentProvider(Protocol):
    """One provider behind one key. Every method may raise ProviderUnavailable or ProviderRejected."""

    name: str
    is_live: bool
    """The mode of the configured key: every object that it makes lives there."""

    def create_session(self, request: SessionRequest) -> Session:
        """Make the transaction's session, or give the one that was made for it before."""

    def session(self, ref: str) -> Session:
        """Read a session."""

    def kept_method(self, ref: str) -> KeptMethod | None:
        """Read the payment method that a session saved; None where it saved none."""

    def charge(self, request: ChargeRequest) -> Payment:
        """Charge a saved payment method, or give the charge that was made for this payment before.

        A charge that the bank refuses is a record like any other.
        """

    def payment(self, ref: str) -> Payment:
        """Read a charge."""

    def find_payment(self, customer_ref: str, payment_id: str) -> Payment | None:
        """Find the charge of a customer that was made for this payment; None where there is none."""

    def taken_back(self, payment_ref: str) -> TakenBack:
        """Read what was refunded and disputed of a payment."""

    def transaction_of(self, payment_ref: str) -> str | None:
        """Name the transaction that a payment was made for; None where it is none of ours."""

    def movements(self, start: datetime, end: datetime) -> Iterator[Movement]:
        """Read every movement of the balance in `[start, end)` that belongs to a payment, whoever's it is.

        Raises ProviderUnavailable or ProviderRejected, maybe after some, where not all could be read.
        """

    def connected_account(self, ref: str) -> ConnectedAccount | None:
        """Read a connected account; None where this key reaches none of that name."""

    def event(self, payload: bytes, signature: str, secrets: Sequence[str]) -> Event:
        """Verify a webhook's signature by any of the secrets, and its time, and read it. Makes no request.

        Raises SignatureInvalid.
        """
