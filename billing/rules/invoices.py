"""Invoice numbers, amounts due, and the schedule of collection."""

from datetime import datetime, timedelta
from typing import NamedTuple

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


def next_attempt(failures: int, now: datetime) -> datetime | None:
    """Return when to try again after this number of refused attempts; None if a person has to act."""
    return now + RETRIES[failures - 1] if failures <= len(RETRIES) else None
