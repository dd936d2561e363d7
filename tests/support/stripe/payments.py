"""Payment intents and the charges that settle them."""

import stripe

from tests.support.stripe import lists, parameters
from tests.support.stripe.balance import Balance
from tests.support.stripe.errors import Refusal, missing
from tests.support.stripe.events import Events
from tests.support.stripe.forms import integer
from tests.support.stripe.request import Request
from tests.support.stripe.store import Json, Store, random_text, snapshot

AMOUNT_MIN_CENTS, AMOUNT_MAX_CENTS = 50, 99_999_999
FEE_CENTS, FEE_PERCENT = 30, 3

CARD = {"brand": "visa", "country": "US", "exp_month": 12, "exp_year": 2034, "funding": "credit", "last4": "4242"}


class Payments:
    """Payments of the platform's customers."""

    def __init__(self, store: Store, events: Events, balance: Balance) -> None:
        self.store = store
        self.events = events
        self.balance = balance

    def create(self, request: Request) -> Json:
        """POST /v1/payment_intents: charge a saved payment method off-session, with the bank's scripted response."""
        method, customer = self._saved(request)
        intent = self.begin(
            amount=_amount(request.params),
            currency=request.params["currency"],
            live=request.live,
            customer=customer["id"],
            metadata=request.params.get("metadata") or {},
            method=method["id"],
            description=request.params.get("description"),
        )
        match method["_answer"]:
            case "succeeds":
                self.settle(intent)
            case "takes_its_time":
                pass
            case code:
                self._refuse(intent, code)
        return intent

    def _saved(self, request: Request) -> tuple[Json, Json]:
        """Find the payment method and the customer of a charge; refuse a charge that lacks what off-session
        requires."""
        params = request.params
        parameters.check(params, stripe.params.PaymentIntentCreateParams)
        for name in ("amount", "currency", "customer", "payment_method"):
            if not params.get(name):
                raise missing(name)
        if (params.get("confirm"), params.get("off_session")) != ("true", "true"):
            raise Refusal(400, "This stand-in charges off-session, confirmed at once.", param="confirm")
        customer = self.store.find("customer", params["customer"], live=request.live, param="customer")
        method = self.store.find("payment_method", params["payment_method"], live=request.live, param="payment_method")
        if method["customer"] != customer["id"]:
            raise Refusal(400, "The payment method does not belong to the customer.", param="payment_method")
        return method, customer

    def _refuse(self, intent: Json, code: str) -> None:
        self.fail(intent, code)
        message = intent["last_payment_error"]["message"]
        own = {name: value for name, value in intent["last_payment_error"].items() if name == "decline_code"}
        error_code = intent["last_payment_error"]["code"]
        raise Refusal(402, message, kind="card_error", code=error_code, **own, payment_intent=snapshot(intent))

    def begin(
        self,
        *,
        amount: int,
        currency: str,
        live: bool,
        customer: str | None,
        metadata: Json,
        method: str = "",
        description: str | None = None,
    ) -> Json:
        """Create an intent that a customer has confirmed and no bank has answered yet."""
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
            description=description,
            last_payment_error=None,
            latest_charge=None,
            metadata=dict(metadata),
            next_action=None,
            setup_future_usage=None,
            payment_method=method or f"pm_1{random_text(23)}",
            payment_method_types=["card"],
            status="processing",
        )
        self.events.emit("payment_intent.created", intent)
        return intent

    def settle(self, intent: Json) -> Json:
        """Confirm the payment, as its bank does. The charge is the money."""
        charge = self._charge(intent, status="succeeded", paid=True)
        intent |= {"status": "succeeded", "amount_received": intent["amount"], "latest_charge": charge["id"]}
        self.events.emit("charge.succeeded", charge)
        self.events.emit("payment_intent.succeeded", intent)
        return charge

    def fail(self, intent: Json, code: str = "card_declined") -> Json:
        """Decline the payment, as its bank does. The intent waits for another payment method. `code` is the card's decline code."""
        charge = self._charge(intent, status="failed", paid=False)
        error = _error_of(code)
        charge |= {"failure_code": error["code"], "failure_message": error["message"]}
        intent |= {"status": "requires_payment_method", "latest_charge": charge["id"]}
        intent["last_payment_error"] = error
        self.events.emit("charge.failed", charge)
        self.events.emit("payment_intent.payment_failed", intent)
        return charge

    def charge_of(self, object_id: str) -> Json:
        """Find a charge by its own id, its intent's, or its session's."""
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
        charge = self.store.add(
            "charge",
            live=intent["livemode"],
            amount=amount,
            amount_captured=amount if paid else 0,
            amount_refunded=0,
            balance_transaction=None,
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
        if paid:
            fee = FEE_CENTS + amount * FEE_PERCENT // 100
            moved = self.balance.move("charge", amount, live=intent["livemode"], source=charge, fee=fee)
            charge["balance_transaction"] = moved["id"]
        return charge


def _amount(params: Json) -> int:
    amount = integer(params, "amount")
    if amount is None or not AMOUNT_MIN_CENTS <= amount <= AMOUNT_MAX_CENTS:
        raise Refusal(400, "Amount must be at least $0.50 usd.", code="amount_too_small", param="amount")
    return amount


def _error_of(code: str) -> Json:
    if code == "authentication_required":
        message = "Your card was declined. This transaction requires authentication."
        return {"type": "card_error", "code": code, "decline_code": code, "message": message}
    declined = {"type": "card_error", "code": "card_declined", "message": "Your card was declined."}
    return declined if code == "card_declined" else {**declined, "decline_code": code}
