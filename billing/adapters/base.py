"""The interface of a payment provider's adapter.

Amounts are micro-USD, times aware UTC. What an adapter returns is the provider's record at that moment, checked for
shape; whether it is what was asked is decided by `billing.rules.checkouts`.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from billing.rules.provider_records import ConnectedAccount, Session, TakenBack


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
class Event:
    """A signed event: which object something happened to. `is_relevant`: it may concern a checkout."""

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

    def taken_back(self, payment_ref: str) -> TakenBack:
        """Read what was refunded and disputed of a payment."""

    def transaction_of(self, payment_ref: str) -> str | None:
        """Name the transaction that a payment was made for; None where it is none of ours."""

    def connected_account(self, ref: str) -> ConnectedAccount | None:
        """Read a connected account; None where this key reaches none of that name."""

    def event(self, payload: bytes, signature: str, secrets: Sequence[str]) -> Event:
        """Verify a webhook's signature by any of the secrets, and its time, and read it. Makes no request.

        Raises SignatureInvalid.
        """
