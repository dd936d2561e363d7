"""Invoice numbers, amounts due, and the schedule of collection."""

from datetime import datetime, timedelta
from enum import StrEnum
from typing import NamedTuple

from billing.rules.check_intervals import check_interval
from billing.rules.provider_records import CURRENCY, Payment
from gateway.core.contract.limits import CENT_MICROUSD

CHARGE_MIN_MICROUSD = 500_000
"""The payment provider's minimum charge is 50 cents."""

SETTLED_AFTER = timedelta(hours=1)
"""The delay between a month's end and its invoice: more than clocks differ by."""
GRACE = timedelta(days=7)
"""How long an invoice may stay unpaid after its issue if no payment method is saved."""
RETRIES = (timedelta(days=1), timedelta(days=3), timedelta(days=5), timedelta(days=7))
"""The delays between refused attempts and the next; after the last, there are no automatic attempts."""
PUT_OFF = timedelta(hours=1)
"""The delay before retrying an invoice that could not be collected and that will not recover by itself."""
BETWEEN_ATTEMPTS = timedelta(minutes=1)
"""The minimum time between two manual attempts."""
CHECK_MIN, CHECK_MAX = timedelta(seconds=45), timedelta(hours=6)
KEY_LIFETIME = timedelta(hours=23)
"""The provider forgets idempotency keys after a day; a request is not repeated past this age."""

AUTHENTICATION_REQUIRED = "authentication_required"
NEVER_MADE = "never_made"
REJECTED = "rejected"


class ChargeVerdict(StrEnum):
    """The outcome of an attempt; the values are its statuses."""

    PROCESSING = "processing"
    SUCCEEDED = "succeeded"
    FAILED = "failed"
    REVIEW = "review"


class Charge(NamedTuple):
    """The request of an attempt."""

    payment_id: str
    amount_microusd: int
    is_live: bool


class LineItem(NamedTuple):
    """One product's seats of a month, with their price."""

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
    """Return the amount to collect for a total: its whole cents, or 0 below the provider's minimum.

    Rounding down means that a customer never pays more than the invoice's total.
    """
    cents = total_microusd - total_microusd % CENT_MICROUSD
    return cents if cents >= CHARGE_MIN_MICROUSD else 0


def judge(charge: Charge, payment: Payment) -> tuple[ChargeVerdict, str | None]:
    """Return an attempt's outcome by the provider's record and, for a review, the reason."""
    fault = _fault(charge, payment)
    if fault:
        return ChargeVerdict.REVIEW, fault
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


def next_attempt(failures: int, now: datetime) -> datetime | None:
    """Return when to try again after this number of refused attempts; None if a person has to act."""
    return now + RETRIES[failures - 1] if failures <= len(RETRIES) else None


def next_check(age: timedelta) -> timedelta:
    """Return how long to wait before checking an attempt of this age again."""
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
