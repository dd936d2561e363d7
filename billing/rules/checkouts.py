"""Decides whether a provider's record matches the request, and when it is checked again."""

from datetime import timedelta
from enum import StrEnum
from typing import NamedTuple

from billing.rules.check_intervals import check_interval
from billing.rules.owners import Owner
from billing.rules.provider_records import CURRENCY, Session

SESSION_MAX_AGE = timedelta(hours=25)
"""A hosted session expires after a day; one more hour allows for clock differences and late responses."""
UNPAID_MAX_AGE = timedelta(days=30)
REFUNDABLE_AGE = timedelta(days=540)
"""The longest time within which card schemes accept a dispute."""

CREATING_GRACE = timedelta(minutes=1)
"""How long a request has to place its checkout before a job does."""
OPEN_INTERVAL = timedelta(seconds=45)
PAID_INTERVAL_MIN, PAID_INTERVAL_MAX = timedelta(minutes=1), timedelta(days=1)
LATE_INTERVAL_MAX = timedelta(hours=6)


class CheckoutVerdict(StrEnum):
    """The outcome of a session; the values are the checkout's statuses."""

    OPEN = "open"
    PAID = "paid"
    COMPLETED = "completed"
    EXPIRED = "expired"
    REVIEW = "review"


class ExpectedSession(NamedTuple):
    """The requested session; with `amount_microusd` None it saves a payment method."""

    transaction_id: str
    amount_microusd: int | None
    is_live: bool


def judge(expected: ExpectedSession, session: Session) -> tuple[CheckoutVerdict, str | None]:
    """Return the session's outcome and, for a review, the reason. Only `PAID` may be credited."""
    is_over = session.status == "complete" or session.payment_status == "paid"
    if not is_over:
        return (CheckoutVerdict.EXPIRED if session.status == "expired" else CheckoutVerdict.OPEN), None
    fault = _fault(expected, session)
    if fault:
        return CheckoutVerdict.REVIEW, fault
    if expected.amount_microusd is None:
        return CheckoutVerdict.COMPLETED, None
    if session.payment_status == "unpaid":
        return CheckoutVerdict.OPEN, None  # the bank has not decided yet
    return CheckoutVerdict.PAID, None


def next_check(verdict: str, age: timedelta) -> timedelta | None:
    """Return how long to wait before asking the provider again; None if there is nothing more to learn.

    `age` counts from the checkout's creation or, once it is paid, from its payment.
    """
    match verdict:
        case "creating":
            return check_interval(age, OPEN_INTERVAL, LATE_INTERVAL_MAX)
        case "open" if age <= SESSION_MAX_AGE:
            return OPEN_INTERVAL
        case "open":
            return check_interval(age, OPEN_INTERVAL, LATE_INTERVAL_MAX)
        case "paid" if age <= REFUNDABLE_AGE:
            return check_interval(age, PAID_INTERVAL_MIN, PAID_INTERVAL_MAX)
    return None


def is_given_up(status: str, age: timedelta) -> bool:
    """Return whether an unpaid checkout is too old to wait for."""
    return age > {"creating": SESSION_MAX_AGE, "open": UNPAID_MAX_AGE}.get(status, timedelta.max)


def change_of(taken_microusd: int, booked_microusd: int, paid_microusd: int) -> int:
    """Return how much more was taken back of a payment than is booked (negative if less), up to what was paid."""
    return min(taken_microusd, paid_microusd) - booked_microusd


def return_path(owner: Owner, transaction_id: str) -> str:
    """Return the portal page that a customer returns to; it shows the payment's outcome."""
    kind, key = owner
    place = f"/organizations/{key}" if kind == "organization" else "/wallet"
    return f"{place}/payments/{transaction_id}"


def _fault(expected: ExpectedSession, session: Session) -> str | None:
    if session.transaction_id not in (None, expected.transaction_id):
        return f"the session belongs to transaction {session.transaction_id}"
    if session.is_live != expected.is_live:
        return f"mode: expected {_mode(expected.is_live)}, got {_mode(session.is_live)}"
    if session.keeps_method != (expected.amount_microusd is None):
        return "the session is of a different kind than requested"
    if expected.amount_microusd is None:
        return None
    if session.currency != CURRENCY:
        return f"currency: expected {CURRENCY}, got {session.currency}"
    if session.amount_microusd != expected.amount_microusd:
        return f"amount: expected {expected.amount_microusd} micro-USD, got {session.amount_microusd}"
    if session.payment_status not in ("paid", "unpaid"):
        return f"payment: {session.payment_status}"
    return None


def _mode(is_live: bool) -> str:
    return "live" if is_live else "test"
