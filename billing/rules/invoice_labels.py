"""Explains to customers the state of an invoice and what happens next."""

from billing.rules.charges import AUTHENTICATION_REQUIRED, NEVER_MADE, REJECTED
from billing.rules.payment_labels import State

STATES = {
    "draft": State(
        "Draft", "This month is over. The invoice has not been issued, and nothing is owed for it.", "Draft", ""
    ),
    "open": State("Open", "It is charged to the payment method saved last, or as soon as one is saved.", "Open", ""),
    "past_due": State(
        "Past due",
        "Assigned seats stay assigned, but no more seats can be assigned until this invoice is paid.",
        "Past due",
        "bad",
    ),
    "paid": State("Paid", "Nothing more is owed for this month.", "Paid", "good"),
    "void": State("Void", "The operator has cancelled this invoice. Nothing is owed for it.", "Void", ""),
}

FAILURES = {
    "insufficient_funds": "There was not enough money on the card.",
    "expired_card": "The card has expired. Save another payment method.",
    AUTHENTICATION_REQUIRED: "The bank wants the card's owner to confirm. Save the payment method again: its page asks "
    "for the confirmation, and the invoice is charged right after.",
    NEVER_MADE: "The payment provider has no record of the charge. Nothing was charged.",
    REJECTED: "The payment provider no longer accepts the saved payment method. Save it again.",
}
DECLINED = "The bank declined the charge."

UNDER_REVIEW = "A charge is under review. The invoice is not charged again until the review ends."
IN_PROGRESS = "A charge is in progress. The invoice is not charged again until its outcome is known."
NOT_AUTOMATIC = "It is not charged again automatically. Pay it now, or save another payment method."


def state(status: str) -> State:
    """Explain an invoice's status to the customer."""
    return STATES[status]


def next_step(status: str, undecided: str | None, *, is_scheduled: bool, is_method_saved: bool = True) -> str | None:
    """Explain what an unpaid invoice waits for, by the status of a charge whose outcome is unknown; None if the
    invoice's own status explains it, or if it waits for a payment method."""
    if undecided is not None:
        return UNDER_REVIEW if undecided == "review" else IN_PROGRESS
    return NOT_AUTOMATIC if status == "past_due" and is_method_saved and not is_scheduled else None


def failure(code: str) -> str:
    """Explain why a charge was refused."""
    return FAILURES.get(code, DECLINED)
