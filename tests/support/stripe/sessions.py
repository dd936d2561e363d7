"""Checkout sessions: created by the platform, paid by a customer at the session's `url`, open for at most a day."""

from typing import Any
from urllib.parse import urlsplit

import stripe

from tests.support.stripe import lists, parameters
from tests.support.stripe.errors import Refusal, missing
from tests.support.stripe.events import Events
from tests.support.stripe.forms import integer
from tests.support.stripe.keeping import Keeping
from tests.support.stripe.payments import AMOUNT_MAX_CENTS, AMOUNT_MIN_CENTS, Payments
from tests.support.stripe.request import Request
from tests.support.stripe.store import Json, Store, random_text

OPEN_SECONDS_MIN, OPEN_SECONDS_MAX = 30 * 60, 24 * 60 * 60
REFERENCE_CHARACTERS_MAX = 200
MODES = ("payment", "setup")


class Sessions:
    """Hosted checkouts."""

    def __init__(self, store: Store, events: Events, payments: Payments, keeping: Keeping) -> None:
        self.store = store
        self.events = events
        self.payments = payments
        self.keeping = keeping
        self.origin = ""

    def create(self, request: Request) -> Json:
        """POST /v1/checkout/sessions in the modes payment and setup."""
        params = request.params
        _check(params)
        items = [_line_item(item, index) for index, item in enumerate(params.get("line_items", []))]
        total = sum(item["amount_total"] for item in items) if params["mode"] == "payment" else None
        now = self.store.now()
        session = self.store.add(
            "checkout.session",
            live=request.live,
            created=now,
            amount_subtotal=total,
            amount_total=total,
            cancel_url=params.get("cancel_url"),
            client_reference_id=params.get("client_reference_id"),
            client_secret=None,
            currency=items[0]["currency"] if items else params.get("currency"),
            customer=params.get("customer"),
            customer_creation=params.get("customer_creation", "if_required"),
            customer_details=None,
            expires_at=_expiry(params, now),
            metadata=params.get("metadata") or {},
            mode=params["mode"],
            payment_intent=None,
            payment_method_types=["card"],
            payment_status="unpaid" if params["mode"] == "payment" else "no_payment_required",
            setup_intent=None,
            status="open",
            success_url=params["success_url"],
            ui_mode="hosted_page",
            _line_items=items,
            _setup_future_usage=params.get("payment_intent_data", {}).get("setup_future_usage"),
            _intent_metadata=params.get(f"{params['mode']}_intent_data", {}).get("metadata", {}),
        )
        session["url"] = f"{self.origin}/c/pay/{session['id']}"
        return session

    def retrieve(self, request: Request) -> Json:
        """GET /v1/checkout/sessions/<id>."""
        return self._find(request)

    def list(self, request: Request) -> Json:
        """GET /v1/checkout/sessions."""
        rows = [self._aged(row) for row in self.store.every("checkout.session", live=request.live)]
        filters = ["customer", "payment_intent", "status"]
        return lists.page(rows, request.params, url="/v1/checkout/sessions", filters=filters)

    def line_items(self, request: Request) -> Json:
        """GET /v1/checkout/sessions/<id>/line_items."""
        session = self._find(request)
        return lists.whole(session["_line_items"], url=request.path)

    def expire(self, request: Request) -> Json:
        """POST /v1/checkout/sessions/<id>/expire."""
        session = self._find(request)
        if session["status"] != "open":
            message = 'Only Checkout Sessions with a status in ["open"] can be expired. This Checkout Session has a '
            raise Refusal(400, f"{message}status of `{session['status']}`.")
        return self.end(session)

    def end(self, session: Json) -> Json:
        """Make a session expire."""
        session |= {"status": "expired", "url": None}
        self.events.emit("checkout.session.expired", session)
        return session

    def pay(self, session: Json, *, settles: bool = True) -> Json:
        """Complete a session as the customer; with `settles` false the bank responds later (see settle, fail)."""
        assert self._aged(session)["status"] == "open", f"the session is {session['status']}"
        live = session["livemode"]
        if session["customer_creation"] == "always" and session["customer"] is None:
            session["customer"] = self.keeping.customer(live=live)["id"]
        session["customer_details"] = {"email": "payer@example.com", "name": "Pay Er", "phone": None}
        session |= {"status": "complete", "url": None}
        (self._keep if session["mode"] == "setup" else self._begin)(session)
        if settles and session["mode"] == "payment":
            self.payments.settle(self.store.any(session["payment_intent"]))
            session["payment_status"] = "paid"
        self.events.emit("checkout.session.completed", session)
        return session

    def settle(self, session: Json) -> Json:
        """Confirm the payment of a completed session, as its bank does."""
        self.payments.settle(self.store.any(session["payment_intent"]))
        session["payment_status"] = "paid"
        self.events.emit("checkout.session.async_payment_succeeded", session)
        return session

    def fail(self, session: Json) -> Json:
        """Decline the payment of a completed session, as its bank does."""
        self.payments.fail(self.store.any(session["payment_intent"]))
        self.events.emit("checkout.session.async_payment_failed", session)
        return session

    def _begin(self, session: Json) -> None:
        kept = {}
        if session["_setup_future_usage"]:
            kept["method"] = self.keeping.card(live=session["livemode"], customer=session["customer"])["id"]
        intent = self.payments.begin(
            amount=session["amount_total"],
            currency=session["currency"],
            live=session["livemode"],
            customer=session["customer"],
            metadata=session["_intent_metadata"],
            **kept,
        )
        intent["setup_future_usage"] = session["_setup_future_usage"]
        session["payment_intent"] = intent["id"]

    def _keep(self, session: Json) -> None:
        metadata = session["_intent_metadata"]
        saved = self.keeping.setup(live=session["livemode"], customer=session["customer"], metadata=metadata)
        session["setup_intent"] = saved["id"]

    def _find(self, request: Request) -> Json:
        found = self.store.find("checkout.session", request.object_id, live=request.live, param="session")
        return self._aged(found)

    def _aged(self, session: Json) -> Json:
        if session["status"] == "open" and session["expires_at"] <= self.store.now():
            self.end(session)
        return session


def _expiry(params: Json, now: int) -> int:
    requested = integer(params, "expires_at", now + OPEN_SECONDS_MAX)
    assert requested is not None
    if not now + OPEN_SECONDS_MIN <= requested <= now + OPEN_SECONDS_MAX:
        message = "The `expires_at` timestamp must be between 30 minutes and 24 hours from Checkout Session creation."
        raise Refusal(400, message, param="expires_at")
    return requested


def _check(params: Json) -> None:
    parameters.check(params, stripe.params.checkout.SessionCreateParams)
    if params.get("mode") not in MODES:
        raise missing("mode") if "mode" not in params else Refusal(400, "Invalid mode.", param="mode")
    if "success_url" not in params:
        raise missing("success_url")
    for name in ("success_url", "cancel_url"):
        if name in params and urlsplit(params[name]).scheme not in ("http", "https"):
            raise Refusal(400, "Not a valid URL", code="url_invalid", param=name)
    needed = "line_items" if params["mode"] == "payment" else "currency"
    if not params.get(needed):
        raise missing(needed)
    if params["mode"] == "setup" and "line_items" in params:
        raise Refusal(400, "You can not pass `line_items` in `setup` mode.", param="line_items")
    for data, mode in (("payment_intent_data", "payment"), ("setup_intent_data", "setup")):
        if data in params and params["mode"] != mode:
            raise Refusal(400, f"You can not pass `{data}` in `{params['mode']}` mode.", param=data)
    if len(params.get("client_reference_id", "")) > REFERENCE_CHARACTERS_MAX:
        raise Refusal(400, "Invalid string: at most 200 characters.", param="client_reference_id")


def _line_item(item: Json, index: int) -> Json:
    place = f"line_items[{index}]"
    price: dict[str, Any] = item.get("price_data") or {}
    for name in ("currency", "unit_amount", "product_data"):
        if not price.get(name):
            raise missing(f"{place}[price_data][{name}]")
    if not price["product_data"].get("name"):
        raise missing(f"{place}[price_data][product_data][name]")
    unit, quantity = integer(price, "unit_amount"), integer(item, "quantity")
    if unit is None or not quantity:
        raise missing(f"{place}[quantity]")
    total = unit * quantity
    if not AMOUNT_MIN_CENTS <= total <= AMOUNT_MAX_CENTS:
        small = total < AMOUNT_MIN_CENTS
        message = (
            "The Checkout Session's total amount due must add up to at least $0.50 usd and at most $999,999.99 usd"
        )
        raise Refusal(400, message, code="amount_too_small" if small else "amount_too_large", param=place)
    return {
        "id": f"li_1{random_text(23)}",
        "object": "item",
        "amount_subtotal": total,
        "amount_total": total,
        "currency": price["currency"],
        "description": price["product_data"]["name"],
        "quantity": quantity,
    }
