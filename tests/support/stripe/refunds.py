"""Refunds of charges. A pending one counts until it fails."""

from typing import Any

import stripe

from tests.support.stripe import lists, parameters
from tests.support.stripe.balance import Balance
from tests.support.stripe.errors import Refusal, missing
from tests.support.stripe.events import Events
from tests.support.stripe.forms import integer
from tests.support.stripe.payments import Payments
from tests.support.stripe.request import Request
from tests.support.stripe.store import Json, Store

COUNTED = {"pending", "requires_action", "succeeded"}


class Refunds:
    """Money that was or is being refunded."""

    def __init__(self, store: Store, events: Events, payments: Payments, balance: Balance) -> None:
        self.balance = balance
        self.store = store
        self.events = events
        self.payments = payments

    def make(self, charge: Json, *, amount: int | None = None, status: str = "succeeded", **members: Any) -> Json:
        """Refund a charge, or `amount` cents of it."""
        left = charge["amount"] - charge["amount_refunded"]
        requested = left if amount is None else amount
        _require_left(charge, requested, left)
        refund = self.store.add(
            "refund",
            live=charge["livemode"],
            amount=requested,
            balance_transaction=None,
            charge=charge["id"],
            currency=charge["currency"],
            destination_details={"type": "card"},
            metadata={},
            payment_intent=charge["payment_intent"],
            reason=None,
            receipt_number=None,
            source_transfer_reversal=None,
            status=status,
            transfer_reversal=None,
        )
        moved = self.balance.move("refund", -requested, live=charge["livemode"], source=refund)
        refund |= {"balance_transaction": moved["id"], **members}
        self._count(charge)
        self.events.emit("refund.created", refund)
        self.events.emit("charge.refunded", charge)
        return refund

    def turn(self, refund: Json, status: str) -> Json:
        """Change a refund's status to `succeeded`, `failed` or `canceled`; the latter two no longer count."""
        before, refund["status"] = refund["status"], status
        if status in ("failed", "canceled"):
            live = self.store.is_live(refund["id"])
            moved = self.balance.move("refund_failure", refund["amount"], live=live, source=refund)
            refund |= {"failure_reason": "unknown", "failure_balance_transaction": moved["id"]}
        self._count(self.store.any(refund["charge"]))
        self.events.emit("refund.updated", refund, status=before)
        self.events.emit("charge.refund.updated", refund, status=before)
        if status == "failed":
            self.events.emit("refund.failed", refund, status=before)
        return refund

    def create(self, request: Request) -> Json:
        """POST /v1/refunds, of a charge or of a payment intent."""
        parameters.check(request.params, stripe.params.RefundCreateParams)
        params = request.params
        named = params.get("charge") or params.get("payment_intent")
        if named is None:
            raise missing("payment_intent")
        kind = "charge" if "charge" in params else "payment_intent"
        found = self.store.find(kind, named, live=request.live, param=kind)
        charge = self.payments.charge_of(found["id"])
        details = {name: params[name] for name in ("metadata", "reason") if name in params}
        return self.make(charge, amount=integer(params, "amount"), **details)

    def retrieve(self, request: Request) -> Json:
        """GET /v1/refunds/<id>."""
        return self.store.find("refund", request.object_id, live=request.live)

    def list(self, request: Request) -> Json:
        """GET /v1/refunds, of one charge or payment intent."""
        rows = self.store.every("refund", live=request.live)
        return lists.page(rows, request.params, url="/v1/refunds", filters=["charge", "payment_intent"])

    def _count(self, charge: Json) -> None:
        rows = self.store.every("refund")
        counted = (row for row in rows if row["charge"] == charge["id"] and row["status"] in COUNTED)
        charge["amount_refunded"] = sum(row["amount"] for row in counted)
        charge["refunded"] = charge["amount_refunded"] == charge["amount"]


def _require_left(charge: Json, requested: int, left: int) -> None:
    if not charge["paid"]:
        raise Refusal(400, "This charge has not been paid and cannot be refunded.", code="charge_not_refundable")
    if left == 0:
        message = f"Charge {charge['id']} has already been refunded."
        raise Refusal(400, message, code="charge_already_refunded")
    if not 0 < requested <= left:
        message = f"Refund amount ({_money(requested)}) is greater than unrefunded amount on charge ({_money(left)})"
        raise Refusal(400, message, param="amount")


def _money(cents: int) -> str:
    return f"${cents // 100}.{cents % 100:02d}"
