"""Owners with money, and the calls that they pay for."""

import json
from dataclasses import dataclass, field
from datetime import datetime
from hashlib import sha256
from typing import Any

from django.utils import timezone
from psycopg.types.json import Json, Jsonb
from psycopg.types.numeric import Int8

from billing.models import Call, PriceVersion
from billing.operations import credits
from billing.operations.ledger import (
    AMOUNT_MAX_MICROUSD,
    CloseOutcome,
    Hold,
    HoldOutcome,
    Release,
    Replay,
    Settlement,
    read_replay,
)
from billing.operations.statement import Statement, call
from billing.queries import wallets as wallet_queries
from billing.queries.wallets import WalletBalance
from gateway.core.contract.ids import new_id
from tests.factories import payments

ROUTE = "chat.completions"
PRICE = {"input_token": "0.15", "output_token": "0.60"}
# As the first statement of a call does, but for any member and at any time. It reads `w`, so that the lock comes first.
HOLD = """
SELECT h.* FROM json_populate_record(NULL::inference_call, %(call)s) c, billing_lock_wallet(c.owner_kind, c.owner_key) w,
       billing_hold_locked(
         c, CASE WHEN w.id IS NOT NULL THEN %(membership_id)s END, %(now)s,
         (SELECT array_agg(l.scope ORDER BY l.ordinality) FROM unnest(c.limits) WITH ORDINALITY l WHERE l.tokens IS NOT NULL),
         (SELECT bool_or(true) FROM unnest(c.limits) l WHERE l.concurrent IS NOT NULL)) h
"""
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
    def wallet(self) -> WalletBalance:
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
        """Grant a credit and return its lot."""
        return credits.grant(
            *self.owner,
            amount_microusd=amount,
            product=product,
            expires_at=expires_at,
            source_kind="test",
            source_key=new_id("key"),
        )[0]

    def reserve(self, hold: int, key: str | None = None, body: bytes = b"{}", **fields: Any) -> Hold:
        """Ask for a hold as `holding` does."""
        return self.holding(hold, key, body, **fields).run()

    def holding(self, hold: int, key: str | None = None, body: bytes = b"{}", **fields: Any) -> Statement[Hold]:
        """Build the statement that asks for a hold; `fields` are members of an `inference_call`, the member who makes the
        call, and the time."""
        membership_id, now = fields.pop("membership_id", None), fields.pop("now", None)
        made: dict[str, Any] = {
            "usage_id": new_id("use"),
            "owner_kind": self.kind,
            "owner_key": self.key,
            "did": "did:web:studio.example:alice",
            "route": ROUTE,
            "model": "fast",
            "key": key,
            "digest": sha256(body).hexdigest() if key else None,
            "hold": hold,
            "max_cost": fields.pop("max_cost_microusd", hold),
            "price_version": fields.pop("price_version", None) or price_version(),
            "deadline_seconds": 120,
            **fields,
        }
        return Statement(HOLD, {"call": Json(made), "membership_id": membership_id, "now": now}, _read_hold)

    def look_up(self, key: str, body: bytes = b"{}", **clock: datetime) -> Hold:
        """Look an idempotency key up, as for a request that is refused before a hold is tried."""
        kind, owner_key = self.owner
        digest = sha256(body).digest()
        return call(
            "billing_find_replay",
            _read_found,
            owner_kind=kind,
            owner_key=owner_key,
            route=ROUTE,
            key=key,
            digest=digest,
            **clock,
        ).run()

    def call(self, hold: int, key: str | None = None, **fields: Any) -> str:
        """Place a call's hold and return its usage id."""
        placed = self.reserve(hold, key, **fields)
        assert placed.outcome == "reserved", placed
        assert placed.usage_id
        return placed.usage_id


def settle(usage_id: str, cost: int, **fields: Any) -> Settlement:
    """Charge a call as `settling` does."""
    return settling(usage_id, cost, **fields).run()


def settling(usage_id: str, cost: int, **fields: Any) -> Statement[Settlement]:
    """Build the statement that charges a call by its upstream's count: as many tokens as come to that cost at `PRICE`."""
    given: dict[str, Any] = {"basis": "upstream", **_replay(fields), **fields}
    quantities = Jsonb(given.pop("quantities", used_for(cost)))
    capped = Int8(min(cost, AMOUNT_MAX_MICROUSD))
    return call("billing_settle", _read_settlement, usage_id=usage_id, cost=capped, quantities=quantities, **given)


def used_for(cost: int) -> dict[str, int]:
    """Return quantities that cost so much at `PRICE`, where 20 input tokens are 3 micro-USD."""
    return {"input_tokens": min(cost, AMOUNT_MAX_MICROUSD) * 20 // 3, "output_tokens": 0}


def release(usage_id: str, **fields: Any) -> Release:
    """Release a call's hold."""
    return call("billing_release", _read_release, usage_id=usage_id, **fields).run()


def review(usage_id: str, reason: str = "upstream_timeout", **fields: Any) -> bool:
    """Leave a call to review."""
    given = {**_replay(fields), **fields}
    if "evidence" in given:
        given["evidence"] = Jsonb(given["evidence"])
    return call("billing_to_review", _first, usage_id=usage_id, reason=reason, **given).run()


def note_delivery(usage_id: str, evidence: dict[str, int], deadline: datetime | None = None) -> bool:
    """Note what a call in flight has delivered."""
    return call("billing_note_delivery", _first, usage_id=usage_id, evidence=Jsonb(evidence), deadline=deadline).run()


def state(usage_id: str) -> str:
    """Return a call's state."""
    return Call.objects.get(pk=usage_id).state


def _replay(fields: dict[str, Any]) -> dict[str, Any]:
    """Take `replay` out of the fields and apart, into the parameters of an answer that is to be stored."""
    replay = fields.pop("replay", None)
    if replay is None:
        return {}
    return {"replay_status": replay.status, "replay_headers": Jsonb(replay.headers), "replay_body": replay.body}


def _read_hold(row: Any) -> Hold:
    return Hold(HoldOutcome(row[0]), row[1], row[2], row[3], _read_replay(*row[4:]))


def _read_found(row: Any) -> Hold:
    return Hold(HoldOutcome(row[0]), row[1], replay=_read_replay(*row[2:]))


def _read_replay(status: int | None, headers: str, body: bytes) -> Replay | None:
    """Read a stored answer; Django's connection hands JSON over as text."""
    return read_replay(None, status, json.loads(headers) if isinstance(headers, str) else headers, body)


def _read_settlement(row: Any) -> Settlement:
    return Settlement(CloseOutcome(row[0]), *row[1:])


def _read_release(row: Any) -> Release:
    return Release(CloseOutcome(row[0]), row[1])


def _first(row: Any) -> Any:
    return row[0]
