"""Payment intents and the charges that settle them."""

from tests.support.stripe import lists
from tests.support.stripe.events import Events
from tests.support.stripe.request import Request
from tests.support.stripe.store import Json, Store, random_text

CARD = {"brand": "visa", "country": "US", "exp_month": 12, "exp_year": 2034, "funding": "credit", "last4": "4242"}


class Payments:
    """Money that customers of the platform paid."""

    def __init__(self, store: Store, events: Events) -> None:
        self.store = store
        self.events = events

    def begin(self, *, amount: int, currency: str, live: bool, customer: str | None, metadata: Json) -> Json:
        """Make an intent that a customer confirmed and no bank answered yet."""
        intent = self.store.add(
            "payment_intent",
            live=live,
            amount=amount,
            amount_capturable=0,
            amount_received=0,
            canceled_at=None,
            cancellation_reason=None,
            capture_method="automatic_async",
            client_secret=f"pi_{random_text(12)}_secret_{random_text(24)}",
            confirmation_method="automatic",
            currency=currency,
            customer=customer,
            description=None,
            last_payment_error=None,
            latest_charge=None,
            metadata=dict(metadata),
            next_action=None,
            payment_method=f"pm_1{random_text(23)}",
            payment_method_types=["card"],
            status="processing",
        )
        self.events.emit("payment_intent.created", intent)
        return intent

    def settle(self, intent: Json) -> Json:
        """Let the bank pay; the charge is the money."""
        charge = self._charge(intent, status="succeeded", paid=True)
        intent |= {"status": "succeeded", "amount_received": intent["amount"], "latest_charge": charge["id"]}
        self.events.emit("charge.succeeded", charge)
        self.events.emit("payment_intent.succeeded", intent)
        return charge

    def fail(self, intent: Json) -> Json:
        """Let the bank refuse; the intent waits for another payment method."""
        charge = self._charge(intent, status="failed", paid=False)
        charge |= {"failure_code": "card_declined", "failure_message": "Your card was declined."}
        intent |= {"status": "requires_payment_method", "latest_charge": charge["id"]}
        intent["last_payment_error"] = {
            "type": "card_error",
            "code": "card_declined",
            "message": "Your card was declined.",
        }
        self.events.emit("charge.failed", charge)
        self.events.emit("payment_intent.payment_failed", intent)
        return charge

    def charge_of(self, object_id: str) -> Json:
        """Find the charge that an id means: its own, its intent's, or its session's."""
        found = self.store.any(object_id)
        if found["object"] == "checkout.session":
            found = self.store.any(found["payment_intent"])
        if found["object"] == "payment_intent":
            found = self.store.any(found["latest_charge"])
        return found

    def retrieve_intent(self, request: Request) -> Json:
        """GET /v1/payment_intents/<id>."""
        return self.store.find("payment_intent", request.object_id, live=request.live, param="intent")

    def list_intents(self, request: Request) -> Json:
        """GET /v1/payment_intents."""
        rows = self.store.every("payment_intent", live=request.live)
        return lists.page(rows, request.params, url="/v1/payment_intents", filters=["customer"])

    def retrieve_charge(self, request: Request) -> Json:
        """GET /v1/charges/<id>."""
        return self.store.find("charge", request.object_id, live=request.live, param="charge")

    def list_charges(self, request: Request) -> Json:
        """GET /v1/charges."""
        rows = self.store.every("charge", live=request.live)
        return lists.page(rows, request.params, url="/v1/charges", filters=["payment_intent", "customer"])

    def _charge(self, intent: Json, *, status: str, paid: bool) -> Json:
        amount = intent["amount"]
        return self.store.add(
            "charge",
            live=intent["livemode"],
            amount=amount,
            amount_captured=amount if paid else 0,
            amount_refunded=0,
            balance_transaction=f"txn_3{random_text(23)}" if paid else None,
            billing_details={"address": None, "email": None, "name": None, "phone": None},
            captured=paid,
            currency=intent["currency"],
            customer=intent["customer"],
            description=None,
            disputed=False,
            failure_code=None,
            failure_message=None,
            metadata=dict(intent["metadata"]),
            paid=paid,
            payment_intent=intent["id"],
            payment_method=intent["payment_method"],
            payment_method_details={"card": dict(CARD), "type": "card"},
            receipt_url=None,
            refunded=False,
            status=status,
        )
