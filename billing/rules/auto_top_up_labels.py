"""Explains automatic top-up to customers: what it is doing, why it is paused, and what became of a charge."""

from datetime import datetime

from billing.rules.auto_top_ups import NO_METHOD, OPERATOR, TAKEN_BACK, AutoTopUpState
from billing.rules.charges import AUTHENTICATION_REQUIRED, DISMISSED, NEVER_MADE, REJECTED
from billing.rules.payment_labels import State

STATES = {
    AutoTopUpState.OFF: State("Off", "Nothing is charged automatically.", "Off", ""),
    AutoTopUpState.READY: State("On", "The saved payment method is charged when the wallet is low.", "On", "good"),
    AutoTopUpState.PAUSED: State("Paused", "Nothing is charged automatically.", "Paused", "bad"),
    AutoTopUpState.NEEDS_PAYMENT_METHOD: State(
        "Waiting for a payment method",
        "Nothing is charged until a payment method is saved.",
        "No payment method",
        "bad",
    ),
}
BLOCKED = State(
    "Waiting",
    "Nothing is charged automatically while the organization is suspended or an invoice is overdue.",
    "Waiting",
    "bad",
)
FULL = State("Limit reached", "", "Limit reached", "bad")
SET = "Automatic top-up is on."
TURNED_OFF = "Automatic top-up is off. A charge that is under way still arrives."
REMOVED = "The payment method was removed. It is not charged any more."
AGAIN = "Turn it on again, or save another payment method."
REASONS = {
    "insufficient_funds": f"There was not enough money on the card. {AGAIN}",
    "expired_card": "The card has expired. Save another payment method.",
    AUTHENTICATION_REQUIRED: "The bank wants the card's owner to confirm the payment.",
    REJECTED: "The payment provider no longer accepts the saved payment method. Save it again.",
    NO_METHOD: "No payment method is saved.",
    TAKEN_BACK: "A payment was refunded or disputed. Turn it on again to go on.",
    OPERATOR: "The operator of this service paused it. Only the operator can end that.",
}
DECLINED = f"The bank declined the charge. {AGAIN}"

OUTCOMES = {
    "waiting": State("", "It is about to be charged.", "Waiting", ""),
    "sending": State("", "The outcome is not known yet.", "Waiting", ""),
    "processing": State("", "The bank has not answered yet.", "Waiting", ""),
    "review": State("", "The payment provider's record differs from what was requested.", "Under review", "bad"),
    "succeeded": State("", "", "Paid", "good"),
    "failed": State("", "The bank declined the charge.", "Refused", "bad"),
}
NO_REFUSALS = {
    NEVER_MADE: State("", "The payment provider has no record of the charge. Nothing was charged.", "Not charged", ""),
    DISMISSED: State("", "The operator of this service ended its review. Nothing was credited.", "Not credited", "bad"),
}
"""Charges that failed though no bank refused them."""
FAILURES = {
    "insufficient_funds": "There was not enough money on the card.",
    "expired_card": "The card has expired.",
    AUTHENTICATION_REQUIRED: "The bank wants the card's owner to confirm.",
    REJECTED: "The payment provider no longer accepted the payment method.",
}


def state(found: AutoTopUpState, *, is_blocked: bool, full_until: datetime | None) -> State:
    """Explain what automatic top-up is doing. `is_blocked` is set while its owner must not be charged, and `full_until` is the end of
    the month if that has no room for another charge.
    """
    if found is not AutoTopUpState.READY:
        return STATES[found]
    if is_blocked:
        return BLOCKED
    if full_until is None:
        return STATES[found]
    return FULL._replace(meaning=f"This month has no room for another charge before {full_until:%-d %B} (UTC).")


def pause(reason: str | None) -> str:
    """Explain why it is paused, and what to do."""
    return REASONS.get(reason or "", DECLINED)


def outcome(status: str, failure_code: str | None) -> State:
    """Explain what became of a charge."""
    if failure_code in NO_REFUSALS:
        return NO_REFUSALS[failure_code]
    found = OUTCOMES[status]
    return found._replace(meaning=FAILURES.get(failure_code or "", found.meaning)) if status == "failed" else found
