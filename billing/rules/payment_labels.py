"""Explains to customers the state of a payment."""

from typing import NamedTuple

from gateway.core.contract.amounts import usd


class State(NamedTuple):
    """A payment's state: a heading, what it means, a word for lists, and whether it is good, bad or neutral."""

    heading: str
    meaning: str
    word: str
    news: str


CREATING = State("Not started", "The payment page has not been opened yet. Nothing was charged.", "Not started", "")
OPEN = State(
    "Waiting for confirmation",
    "The payment provider has not confirmed a payment yet. If you have paid, this can take a minute or two. The money is "
    "added even if you close this page.",
    "Waiting",
    "",
)
EXPIRED = State("Not paid", "The payment page has expired. Nothing was charged.", "Not paid", "")
REVIEW = State(
    "Under review",
    "The payment provider's record differs from what was requested. Nothing has been added to the wallet yet. The operator is "
    "looking into it. If you ask about it, quote the payment ID below.",
    "Under review",
    "bad",
)
DISMISSED = State(
    "Closed by the operator",
    "The operator reviewed this payment and added nothing to the wallet. If you ask about it, quote the payment ID below.",
    "Closed",
    "bad",
)
SAVED = State("Saved", "The payment method is saved for later. Nothing was charged.", "Saved", "good")
PAID = State("Paid", "The money is in the wallet.", "Paid", "good")


def state(status: str, review_reason: str | None, taken_back_microusd: int) -> State:
    """Explain a checkout's status to the customer."""
    match status:
        case "creating":
            return CREATING
        case "open":
            return OPEN
        case "review":
            return REVIEW
        case "expired":
            return DISMISSED if review_reason else EXPIRED
        case "completed":
            return SAVED
    if not taken_back_microusd:
        return PAID
    taken = f"{usd(taken_back_microusd)} of it was refunded or disputed."
    return State("Paid, then refunded", f"The money was added to the wallet. {taken}", "Refunded", "bad")


REFUSALS = {
    "idempotency_key_reused": "This form was already sent with different details. Check it and send it again.",
    "integration_unavailable": "The payment provider is not responding. Nothing was charged. Try again in a minute.",
}


def of_refusal(code: str) -> str:
    """Explain why a payment could not be started."""
    return REFUSALS.get(code, "The payment could not be started. Nothing was charged.")


def is_awaited(status: str) -> bool:
    """Return whether a checkout may still be paid, so that its page keeps refreshing."""
    return status in ("creating", "open")


def bought(kind: str, product: str | None, *, is_automatic: bool = False) -> str:
    """Return what a payment is for; a top-up with a product can be spent only on that product."""
    if kind == "payment_method":
        return "Payment method"
    if is_automatic:
        return "Automatic top-up"
    return f"Credit for {product} only" if product else "Wallet balance"
