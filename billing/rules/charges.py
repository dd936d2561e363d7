"""Off-session charges of a saved payment method: what the provider's record of one means, and when it is checked again."""

from datetime import timedelta
from enum import StrEnum
from typing import NamedTuple

from billing.rules.check_intervals import check_interval
from billing.rules.provider_records import CURRENCY, Payment

CHECK_MIN, CHECK_MAX = timedelta(seconds=45), timedelta(hours=6)
KEY_LIFETIME = timedelta(hours=23)
"""The provider forgets idempotency keys after a day; a request is not repeated past this age."""

CONFIRMED_WITHIN = timedelta(minutes=10)
"""How long the provider may take to bring a payment to the bank. Until then it looks like one that nobody has confirmed."""
UNCONFIRMED = ("requires_payment_method", "requires_confirmation")

AUTHENTICATION_REQUIRED = "authentication_required"
NEVER_MADE = "never_made"
REJECTED = "rejected"
DISMISSED = "dismissed"
"""An operator ended the review of an automatic charge without a credit."""


class ChargeVerdict(StrEnum):
    """The outcome of a charge; the values are its statuses."""

    PROCESSING = "processing"
    SUCCEEDED = "succeeded"
    FAILED = "failed"
    REVIEW = "review"


class Charge(NamedTuple):
    """The request of a charge."""

    payment_id: str
    amount_microusd: int
    is_live: bool


def judge(charge: Charge, payment: Payment, age: timedelta) -> tuple[ChargeVerdict, str | None]:
    """Return the outcome of a charge of this age by the provider's record and, for a review, the reason."""
    fault = _fault(charge, payment)
    if fault:
        return ChargeVerdict.REVIEW, fault
    if payment.status in UNCONFIRMED and payment.failure_code is None and age < CONFIRMED_WITHIN:
        return ChargeVerdict.PROCESSING, None
    match payment.status:
        case "succeeded":
            return ChargeVerdict.SUCCEEDED, None
        case "requires_payment_method" | "requires_action" | "requires_confirmation" | "canceled":
            return ChargeVerdict.FAILED, None
    return ChargeVerdict.PROCESSING, None


def failure_of(payment: Payment) -> str:
    """Return the code of a failure; a payment that waits for the absent customer requires authentication."""
    if payment.status == "requires_action":
        return AUTHENTICATION_REQUIRED
    return payment.failure_code or payment.status


def next_check(age: timedelta) -> timedelta:
    """Return how long to wait before checking a charge of this age again."""
    return check_interval(age, CHECK_MIN, CHECK_MAX)


def _fault(charge: Charge, payment: Payment) -> str | None:
    if payment.transaction_id != charge.payment_id:
        return f"the charge belongs to {payment.transaction_id}"
    if payment.is_live != charge.is_live:
        return "the charge is of the other mode (test or live)"
    if payment.currency != CURRENCY:
        return f"currency: expected {CURRENCY}, got {payment.currency}"
    if payment.amount_microusd != charge.amount_microusd:
        return f"amount: expected {charge.amount_microusd} micro-USD, got {payment.amount_microusd}"
    if payment.status == "succeeded" and payment.received_microusd != charge.amount_microusd:
        return f"received: expected {charge.amount_microusd} micro-USD, got {payment.received_microusd}"
    return None
