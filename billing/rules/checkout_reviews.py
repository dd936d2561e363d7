"""Decides whether an operator may credit a payment that differs from the request."""

from billing.rules.checkouts import ExpectedSession
from billing.rules.provider_records import CURRENCY, Session


def fault_of(expected: ExpectedSession, session: Session) -> str | None:
    """Return why nothing can be credited, or None if the session's own amount can."""
    if expected.amount_microusd is None:
        return "No payment was due: this checkout only saves a payment method."
    if session.transaction_id not in (None, expected.transaction_id):
        return "The session at the provider belongs to another transaction."
    if session.is_live != expected.is_live:
        return "The session at the provider is in the other mode (test or live)."
    if session.payment_status != "paid":
        return "The provider has no payment for this checkout."
    if session.currency != CURRENCY:
        return "It was not paid in US dollars."
    if not session.amount_microusd:
        return "The amount that was paid is zero."
    return None
