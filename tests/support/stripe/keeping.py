"""Saved customer data for later payments: a customer, a payment method, and the setup intent that created it."""

from tests.support.stripe.errors import Refusal
from tests.support.stripe.events import Events
from tests.support.stripe.payments import CARD
from tests.support.stripe.request import Request
from tests.support.stripe.store import Json, Store, random_text


class Keeping:
    """Customers and their payment methods."""

    def __init__(self, store: Store, events: Events) -> None:
        self.store = store
        self.events = events
        self.answer = "succeeds"
        """How the banks of payment methods saved from now on respond to charges (`FakeStripe.answer_charges`)."""

    def customer(self, *, live: bool) -> Json:
        """Create a customer from the data entered at checkout."""
        made = self.store.add(
            "customer", live=live, description=None, email="payer@example.com", metadata={}, name="Pay Er"
        )
        self.events.emit("customer.created", made)
        return made

    def card(self, *, live: bool, customer: str | None) -> Json:
        """Save the card that a customer enters."""
        return self.store.add(
            "payment_method",
            live=live,
            card=dict(CARD),
            customer=customer,
            metadata={},
            type="card",
            _answer=self.answer,
        )

    def detach(self, request: Request) -> Json:
        """POST /v1/payment_methods/<id>/detach: the customer's card can never be used again."""
        card = self.store.find("payment_method", request.object_id, live=request.live, param="payment_method")
        if card["customer"] is None:
            message = "The payment method you provided is not attached to a customer so detachment is impossible."
            raise Refusal(400, message)
        card["customer"] = None
        self.events.emit("payment_method.detached", card)
        return card

    def setup(self, *, live: bool, customer: str | None, metadata: Json) -> Json:
        """Save a payment method for later."""
        card = self.card(live=live, customer=customer)
        intent = self.store.add(
            "setup_intent",
            live=live,
            client_secret=f"seti_{random_text(12)}_secret_{random_text(24)}",
            customer=customer,
            description=None,
            latest_attempt=None,
            metadata=dict(metadata),
            payment_method=card["id"],
            payment_method_types=["card"],
            status="succeeded",
            usage="off_session",
        )
        self.events.emit("payment_method.attached", card)
        self.events.emit("setup_intent.succeeded", intent)
        return intent

    def retrieve(self, request: Request) -> Json:
        """GET /v1/customers/<id>, /v1/payment_methods/<id>, /v1/setup_intents/<id>."""
        kind = request.path.split("/")[2].removesuffix("s")
        return self.store.find(kind, request.object_id, live=request.live)
