"""Whether an operator may credit what was paid, although it differs from what was requested."""

from billing.rules.checkouts import Asked
from billing.rules.provider_records import CURRENCY, Session


def fault_of(asked: Asked, session: Session) -> str | None:
    """Return why nothing can be credited; None: the session's own amount can."""
    if asked.amount_microusd is None:
        return "No payment was due: this checkout only saves a payment method."
    if session.transaction_id not in (None, asked.transaction_id):
        return "The session at the provider belongs to another transaction."
    if session.is_live != asked.is_live:
        return "The session at the provider is in the other mode (test or live)."
    if session.payment_status != "paid":
        return "The provider has no payment for this checkout."
    if session.currency != CURRENCY:
        return "It was not paid in US dollars."
    if not session.amount_microusd:
        return "The amount that was paid is zero."
    return None
