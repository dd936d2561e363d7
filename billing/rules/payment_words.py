"""What became of a payment, in plain words."""

from typing import NamedTuple

from gateway.core.contract.amounts import usd


class State(NamedTuple):
    """A payment's state: a heading, what it means, a word for lists, and whether that is good, bad or open news."""

    heading: str
    meaning: str
    word: str
    news: str


CREATING = State("Not begun yet", "The payment page was not opened yet. Nothing was charged.", "Not begun", "")
OPEN = State(
    "Waiting for the confirmation",
    "The payment provider has not confirmed a payment yet. If you have paid, this can take a minute or two, and you need "
    "not wait here: the money is added by itself.",
    "Waiting",
    "",
)
EXPIRED = State("Not paid", "The payment page has expired. Nothing was charged.", "Not paid", "")
REVIEW = State(
    "Being looked at",
    "The provider's record is not what was asked for. Nothing was added to the wallet yet; the operator looks into it. "
    "Name the reference below if you ask about it.",
    "Being looked at",
    "bad",
)
DISMISSED = State(
    "Closed by the operator",
    "The operator has looked into this payment and added nothing to the wallet. Name the reference below if you ask "
    "about it.",
    "Closed",
    "bad",
)
KEPT = State("Kept", "The payment method is kept for later. Nothing was charged.", "Kept", "good")
PAID = State("Paid", "The money is in the wallet.", "Paid", "good")


def state(status: str, review_reason: str | None, taken_back_microusd: int) -> State:
    """Say what a checkout's status means to whoever pays."""
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
            return KEPT
    if not taken_back_microusd:
        return PAID
    taken = f"{usd(taken_back_microusd)} of it was taken back by a refund or a dispute."
    return State("Paid, and taken back", f"The money was added to the wallet. {taken}", "Taken back", "bad")


REFUSALS = {
    "idempotency_key_reused": "This form was sent before with something else in it. Look at it again, and send it anew.",
    "integration_unavailable": "The payment provider does not answer just now. Nothing was charged. Try again in a minute.",
}


def of_refusal(code: str) -> str:
    """Say why a payment could not begin."""
    return REFUSALS.get(code, "The payment could not begin. Nothing was charged.")


def what_for(amount_microusd: int | None, product: str | None) -> str:
    """Say what was asked for; a top-up with a product can be spent on that product alone."""
    if amount_microusd is None:
        return "Payment method"
    return usd(amount_microusd) + (f" for {product} only" if product else "")
