"""Numbers of invoices, what is collected of them, and when."""

from datetime import datetime, timedelta
from enum import StrEnum
from typing import NamedTuple

from billing.rules.looks import next_look
from billing.rules.provider_records import CURRENCY, Payment
from gateway.core.contract.limits import CENT_MICROUSD

CHARGE_MIN_MICROUSD = 500_000
"""The payment provider charges no less than 50 cents."""

SETTLED_AFTER = timedelta(hours=1)
"""How long after a month's end it is billed: more than clocks differ by."""
GRACE = timedelta(days=7)
"""How long after its issue an invoice may stay unpaid where no payment method is stored."""
RETRIES = (timedelta(days=1), timedelta(days=3), timedelta(days=5), timedelta(days=7))
"""How long after each refused attempt the next one is made; after the last, none is made by itself."""
PUT_OFF = timedelta(hours=1)
"""How long an invoice waits that could not be collected for a reason that will not pass by itself."""
BETWEEN_ATTEMPTS = timedelta(minutes=1)
"""The least time between two attempts where somebody asks for them."""
CHECK_MIN, CHECK_MAX = timedelta(seconds=45), timedelta(hours=6)
KEY_KEPT = timedelta(hours=23)
"""The provider forgets idempotency keys after a day; a request is not repeated past this age."""

AUTHENTICATION_REQUIRED = "authentication_required"
NEVER_MADE = "never_made"
REJECTED = "rejected"


class Verdict(StrEnum):
    """The outcome of an attempt; the values are its statuses."""

    PROCESSING = "processing"
    SUCCEEDED = "succeeded"
    FAILED = "failed"
    REVIEW = "review"


class Charge(NamedTuple):
    """What an attempt asked for."""

    payment_id: str
    amount_microusd: int
    is_live: bool


class LineItem(NamedTuple):
    """One product's seats of a month, priced."""

    product: str
    price_microusd: int
    seat_days: int
    amount_microusd: int


def number_of(serial: int) -> str:
    """Render an invoice's number."""
    return f"INV-{serial:06d}"


def credit_number_of(serial: int) -> str:
    """Render a credit note's number."""
    return f"CN-{serial:06d}"


def due_of(total_microusd: int) -> int:
    """Return what is collected of a total: its whole cents, or nothing where the provider would not charge so little.

    Rounding down means that nobody ever pays more than the invoice says.
    """
    cents = total_microusd - total_microusd % CENT_MICROUSD
    return cents if cents >= CHARGE_MIN_MICROUSD else 0


def judge(asked: Charge, payment: Payment) -> tuple[Verdict, str | None]:
    """Return an attempt's outcome by the provider's record and, for a review, the reason."""
    fault = _fault(asked, payment)
    if fault:
        return Verdict.REVIEW, fault
    match payment.status:
        case "succeeded":
            return Verdict.SUCCEEDED, None
        case "requires_payment_method" | "requires_action" | "requires_confirmation" | "canceled":
            return Verdict.FAILED, None
    return Verdict.PROCESSING, None


def failure_of(payment: Payment) -> str:
    """Return the code of a failure; one that waits for the customer, who is not there, needs authentication."""
    if payment.status == "requires_action":
        return AUTHENTICATION_REQUIRED
    return payment.failure_code or payment.status


def next_attempt(failures: int, now: datetime) -> datetime | None:
    """Return when to try again after that many refused attempts; None if a person has to act."""
    return now + RETRIES[failures - 1] if failures <= len(RETRIES) else None


def next_check(age: timedelta) -> timedelta:
    """Return how long to wait before asking again about an attempt of this age."""
    return next_look(age, CHECK_MIN, CHECK_MAX)


def _fault(asked: Charge, payment: Payment) -> str | None:
    if payment.transaction_id != asked.payment_id:
        return f"the charge belongs to {payment.transaction_id}"
    if payment.is_live != asked.is_live:
        return "the charge is of the other mode (test or live)"
    if payment.currency != CURRENCY:
        return f"currency: expected {CURRENCY}, got {payment.currency}"
    if payment.amount_microusd != asked.amount_microusd:
        return f"amount: expected {asked.amount_microusd} micro-USD, got {payment.amount_microusd}"
    if payment.status == "succeeded" and payment.received_microusd != asked.amount_microusd:
        return f"received: expected {asked.amount_microusd} micro-USD, got {payment.received_microusd}"
    return None
