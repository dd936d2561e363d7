"""The interface of a payment provider's adapter.

Amounts are micro-USD, times aware UTC. An adapter returns the provider's current record, checked for shape only;
`billing.rules.checkouts` and `billing.rules.invoices` compare it with the request.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from billing.rules.provider_records import ConnectedAccount, Movement, Payment, Reversals, SavedMethod, Session


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
    """The request for a hosted session; `amount_microusd` None means to save a payment method. With `saves_method`, a
    payment saves its method, too.

    The transaction's id is also the idempotency key: the provider creates at most one session for it.
    """

    transaction_id: str
    amount_microusd: int | None
    success_url: str
    cancel_url: str
    saves_method: bool = False


@dataclass(frozen=True, slots=True)
class ChargeRequest:
    """The request for an off-session charge of a saved payment method.

    The payment's id is also the idempotency key: the provider makes at most one charge for it.
    """

    payment_id: str
    amount_microusd: int
    customer_ref: str
    method_ref: str
    description: str


@dataclass(frozen=True, slots=True)
class Event:
    """A signed event: the object that it is about. `is_relevant`: it may concern a checkout or an invoice."""

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
    """The mode of the configured key: every object that it creates belongs to that mode."""

    def create_session(self, request: SessionRequest) -> Session:
        """Create the transaction's session, or return the one that was created for it before."""

    def session(self, ref: str) -> Session:
        """Read a session."""

    def saved_method(self, ref: str) -> SavedMethod | None:
        """Read the payment method that a session saved; None if it saved none."""

    def label_of(self, method_ref: str) -> str | None:
        """Describe a payment method for its owner ("Visa ending in 4242, 12/2034"); None if there is nothing to say."""

    def forget_method(self, method_ref: str) -> None:
        """Delete a saved payment method, so that it cannot be charged any more; one that is gone already is no error."""

    def charge(self, request: ChargeRequest) -> Payment:
        """Charge a saved payment method, or return the charge that was made for this payment before.

        A charge refused by the bank is a record like any other.
        """

    def payment(self, ref: str) -> Payment:
        """Read a charge."""

    def find_payment(self, customer_ref: str, payment_id: str) -> Payment | None:
        """Find a customer's charge that was made for this payment; None if there is none."""

    def taken_back(self, payment_ref: str) -> Reversals:
        """Read the refunds and disputes of a payment."""

    def transaction_of(self, payment_ref: str) -> str | None:
        """Return the transaction that a payment was made for; None if it is not one of ours."""

    def movements(self, start: datetime, end: datetime) -> Iterator[Movement]:
        """Read every movement of the balance in `[start, end)` that belongs to a payment, ours or not.

        Raises ProviderUnavailable or ProviderRejected, possibly after yielding some, if not all could be read.
        """

    def connected_account(self, ref: str) -> ConnectedAccount | None:
        """Read a connected account; None if this key cannot access one with this id."""

    def event(self, payload: bytes, signature: str, secrets: Sequence[str]) -> Event:
        """Verify a webhook's time, and its signature with any of the secrets, and read it. Makes no request.

        Raises SignatureInvalid.
        """
