"""Owners with money, and the calls that they pay for."""

from dataclasses import dataclass, field
from datetime import datetime, timedelta
from hashlib import sha256
from typing import Any

from django.utils import timezone

from billing.models import PriceVersion, Reservation
from billing.operations import credits, ledger
from billing.operations.ledger import AMOUNT_MAX_MICROUSD, Hold, Release, Replay, Settlement
from billing.queries import wallets as wallet_queries
from billing.queries.wallets import WalletView
from gateway.contract.ids import new_id
from tests.factories import payments

ROUTE = "chat.completions"
PRICE = {"input_token": "0.15", "output_token": "0.60"}
ANSWER = Replay(200, [["content-type", "application/json"]], b'{"id":"chatcmpl_1"}')


def price_version() -> int:
    """Find or make the prices that calls are held at."""
    found = PriceVersion.objects.filter(alias="fast").first()
    return (found or PriceVersion.objects.create(alias="fast", components=PRICE)).pk


@dataclass
class Purse:
    """An owner with a wallet: brings money in, places calls, and looks at what became of it."""

    kind: str = "account"
    key: str = field(default_factory=lambda: new_id("did"))

    @property
    def owner(self) -> tuple[str, str]:
        """Who owns the wallet."""
        return self.kind, self.key

    @property
    def wallet(self) -> WalletView:
        """The wallet as it is now."""
        return wallet_queries.view(self.owner, timezone.now())

    def pay(self, amount: int, product: str | None = None) -> "Purse":
        """Pay money in."""
        payments.top_up(self.owner, amount, product)
        return self

    def refund(self, amount: int) -> int:
        """Take back what was paid in, the newest first, and give what became a debt of it."""
        return payments.refund(self.owner, amount)

    def grant(self, amount: int, product: str | None = None, expires_at: datetime | None = None) -> str:
        """Give a credit and return its lot."""
        return credits.grant(
            *self.owner,
            amount_microusd=amount,
            product=product,
            expires_at=expires_at,
            source_kind="test",
            source_key=new_id("key"),
        )[0]

    def reserve(self, hold: int, key: str | None = None, body: bytes = b"{}", **fields: Any) -> Hold:
        """Ask for a hold."""
        return self.reservation(hold, key, body, **fields).run()

    def reservation(self, hold: int, key: str | None = None, body: bytes = b"{}", **fields: Any) -> Any:
        """Make the statement that asks for a hold."""
        given: dict[str, Any] = {
            "usage_id": new_id("use"),
            "owner": self.owner,
            "actor_did": "did:web:studio.example:alice",
            "route": ROUTE,
            "model": "fast",
            "max_cost_microusd": hold,
            **fields,
        }
        if "price_version" not in given:
            given["price_version"] = price_version()
        digest = sha256(body).digest() if key else None
        return ledger.reserve(hold_microusd=hold, key=key, digest=digest, **given)

    def call(self, hold: int, key: str | None = None, **fields: Any) -> str:
        """Place a call's hold and send it; return its usage id."""
        placed = self.reserve(hold, key, **fields)
        assert placed.outcome == "reserved", placed
        assert placed.usage_id
        assert dispatch(placed.usage_id)
        return placed.usage_id


def dispatch(usage_id: str, deadline: datetime | None = None) -> bool:
    """Send a call."""
    return ledger.dispatch(usage_id=usage_id, deadline=deadline or timezone.now() + timedelta(seconds=120)).run()


def settle(usage_id: str, cost: int, **fields: Any) -> Settlement:
    """Charge a call by its upstream's count: as many tokens as come to that cost at `PRICE`."""
    given: dict[str, Any] = {"basis": "upstream", "quantities": used_for(cost), **fields}
    return ledger.settle(usage_id=usage_id, cost_microusd=cost, **given).run()


def used_for(cost: int) -> dict[str, int]:
    """Return quantities that cost so much at `PRICE`, where 20 input tokens are 3 micro-USD."""
    return {"input_tokens": min(cost, AMOUNT_MAX_MICROUSD) * 20 // 3, "output_tokens": 0}


def release(usage_id: str, **fields: Any) -> Release:
    """Give a call's hold back."""
    return ledger.release(usage_id=usage_id, **fields).run()


def review(usage_id: str, reason: str = "upstream_timeout", **fields: Any) -> bool:
    """Leave a call to reconciliation."""
    return ledger.to_review(usage_id=usage_id, reason=reason, **fields).run()


def state(usage_id: str) -> str:
    """Tell a call's state."""
    return Reservation.objects.get(pk=usage_id).state
