"""The platform's balance: each movement is a balance transaction, whose source is the object that moved the money."""

import stripe

from tests.support.stripe import lists, parameters
from tests.support.stripe.request import Request
from tests.support.stripe.store import Json, Store

AVAILABLE_AFTER_SECONDS = 2 * 86400
CATEGORIES = {
    "adjustment": "dispute",
    "payment": "charge",
    "payment_refund": "refund",
    "refund_failure": "refund_failure",
    "stripe_fee": "fee",
}


class Balance:
    """Money in and out."""

    def __init__(self, store: Store) -> None:
        self.store = store

    def move(self, kind: str, amount: int, *, live: bool, source: Json | None = None, fee: int = 0) -> Json:
        """Add to the balance, or subtract from it, depending on the vendor's `type`."""
        currency = source["currency"] if source else "usd"
        detail = {"amount": fee, "application": None, "currency": currency, "description": "fees", "type": "stripe_fee"}
        return self.store.add(
            "balance_transaction",
            live=live,
            amount=amount,
            available_on=self.store.now() + AVAILABLE_AFTER_SECONDS,
            balance_type="payments",
            currency=currency,
            description=None,
            exchange_rate=None,
            fee=fee,
            fee_details=[detail] if fee else [],
            net=amount - fee,
            reporting_category=CATEGORIES.get(kind, kind),
            source=source["id"] if source else None,
            status="pending",
            type=kind,
        )

    def retrieve(self, request: Request) -> Json:
        """GET /v1/balance_transactions/<id>."""
        return self.store.find("balance_transaction", request.object_id, live=request.live)

    def list(self, request: Request) -> Json:
        """GET /v1/balance_transactions, of one type or source."""
        parameters.check(request.params, stripe.params.BalanceTransactionListParams)
        rows = self.store.every("balance_transaction", live=request.live)
        filters = ["currency", "source", "type"]
        return lists.page(rows, request.params, url="/v1/balance_transactions", filters=filters)
