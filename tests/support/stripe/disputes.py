"""Disputes: a customer's bank takes a payment back, and may return it."""

import stripe

from tests.support.stripe import lists, parameters
from tests.support.stripe.balance import Balance
from tests.support.stripe.events import Events
from tests.support.stripe.request import Request
from tests.support.stripe.store import Json, Store

FEE_CENTS = 1500


class Disputes:
    """The disputes of banks."""

    def __init__(self, store: Store, events: Events, balance: Balance) -> None:
        self.balance = balance
        self.store = store
        self.events = events

    def open(self, charge: Json, *, amount: int | None = None, inquiry: bool = False) -> Json:
        """Dispute a charge or `amount` cents of it; an inquiry takes no money yet."""
        requested = charge["amount"] if amount is None else amount
        dispute = self.store.add(
            "dispute",
            live=charge["livemode"],
            amount=requested,
            balance_transactions=[],
            charge=charge["id"],
            currency=charge["currency"],
            enhanced_eligibility_types=[],
            evidence={},
            evidence_details={"due_by": self.store.now() + 7 * 86400, "has_evidence": False, "past_due": False},
            is_charge_refundable=inquiry,
            metadata={},
            payment_intent=charge["payment_intent"],
            reason="fraudulent",
            status="warning_needs_response" if inquiry else "needs_response",
        )
        charge["disputed"] = True
        self.events.emit("charge.dispute.created", dispute)
        if not inquiry:
            self._move(dispute, -requested)
            self.events.emit("charge.dispute.funds_withdrawn", dispute)
        return dispute

    def end(self, dispute: Json, status: str) -> Json:
        """End a dispute as `won`, `lost`, `warning_closed` or `prevented`; the winner gets the money."""
        before, dispute["status"] = dispute["status"], status
        self.events.emit("charge.dispute.closed", dispute, status=before)
        if status == "won":
            self._move(dispute, dispute["amount"])
            self.events.emit("charge.dispute.funds_reinstated", dispute)
        return dispute

    def retrieve(self, request: Request) -> Json:
        """GET /v1/disputes/<id>."""
        return self.store.find("dispute", request.object_id, live=request.live, param="dispute")

    def list(self, request: Request) -> Json:
        """GET /v1/disputes, of one charge or payment intent."""
        parameters.check(request.params, stripe.params.DisputeListParams)
        rows = self.store.every("dispute", live=request.live)
        return lists.page(rows, request.params, url="/v1/disputes", filters=["charge", "payment_intent"])

    def _move(self, dispute: Json, amount: int) -> None:
        fee = FEE_CENTS if amount < 0 else 0
        moved = self.balance.move("adjustment", amount, live=dispute["livemode"], source=dispute, fee=fee)
        if amount > 0:
            moved["reporting_category"] = "dispute_reversal"
        dispute["balance_transactions"].append(moved)
