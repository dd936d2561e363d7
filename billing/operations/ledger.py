"""The ledger's SQL functions (`billing/sql`, which documents each) for everything except the metered routes.

Every function here builds a `Statement` for Django's connection. The metered routes open and close their calls in
batches instead (`closings.py`).
"""

from collections.abc import Mapping, Sequence
from datetime import datetime
from enum import StrEnum
from typing import Any, NamedTuple

import orjson
from psycopg.types.json import Jsonb
from psycopg.types.numeric import Int8

from billing.operations.statement import Statement, call
from billing.rules.owners import Owner

# A larger number must be a reporting error: the charge is limited to the hold anyway, and the column is a bigint.
AMOUNT_MAX_MICROUSD = 10**18

_IN_REVIEW = ["review"]


class HoldOutcome(StrEnum):
    """The outcome of a request for a hold, or of a lookup of its idempotency key."""

    HELD = "reserved"
    FRESH = "fresh"
    IN_PROGRESS = "in_progress"
    KEY_REUSED = "key_reused"
    REPLAY = "replay"
    GONE = "gone"
    SUSPENDED = "suspended"
    BUDGET_EXCEEDED = "budget_exceeded"
    INSUFFICIENT_FUNDS = "insufficient_funds"
    RATE_LIMITED = "rate_limited"


class CloseOutcome(StrEnum):
    """The outcome of an attempt to close a call; only SETTLED, RELEASED and REVIEW can have changed anything.

    Of settle: SETTLED (now), ALREADY (before), RELEASED (before), CONFLICT, UNKNOWN. Of release: RELEASED (now),
    ALREADY (before), SETTLED (before), CONFLICT, UNKNOWN. Of review: REVIEW (now), CONFLICT, UNKNOWN.
    """

    SETTLED = "settled"
    RELEASED = "released"
    REVIEW = "review"
    ALREADY = "already"
    CONFLICT = "conflict"
    UNKNOWN = "unknown"


class Replay(NamedTuple):
    """A stored response: status, headers as (name, value) pairs, body. Stored, it is encrypted (`replays.encrypted`)
    and names its call."""

    status: int
    headers: Any
    body: bytes
    usage_id: str | None = None


class Hold(NamedTuple):
    """`usage_id` is the call's own, or the first call's if the key is taken; the rest depends on the outcome."""

    outcome: HoldOutcome
    usage_id: str | None
    available_microusd: int | None = None
    budget_id: str | None = None
    replay: Replay | None = None


class Settlement(NamedTuple):
    """The stored amounts of a settled call; None if it is not settled."""

    outcome: CloseOutcome
    charge_microusd: int | None
    hold_microusd: int | None
    overrun_microusd: int | None


class Release(NamedTuple):
    """The released hold, or the hold that stays if nothing was released."""

    outcome: CloseOutcome
    hold_microusd: int | None


class Grant(NamedTuple):
    """`granted`, `already` (the same before) or `conflict` (the source granted a different credit); the source's
    lot."""

    outcome: str
    lot_id: str


class Payment(NamedTuple):
    """`credited`, `already` or `conflict`; how much repaid a debt, and how much became balance or credit."""

    outcome: str
    repaid_microusd: int
    credited_microusd: int


class Refund(NamedTuple):
    """`taken` or `already`, the amount taken, and the amount that became a debt."""

    outcome: str
    taken_microusd: int
    debt_microusd: int


def settle_review(
    *, usage_id: str, cost_microusd: int, basis: str, quantities: Mapping[str, int | str], resolution: str
) -> Statement[Settlement]:
    """Charge a call in review once, at most its hold, and release the rest."""
    return call(
        "billing_settle",
        _read_settlement,
        usage_id=usage_id,
        cost=Int8(min(cost_microusd, AMOUNT_MAX_MICROUSD)),
        basis=basis,
        quantities=Jsonb(dict(quantities), dumps=orjson.dumps),
        resolution=resolution,
        expected=_IN_REVIEW,
    )


def release_review(*, usage_id: str, resolution: str, book_loss: bool = False) -> Statement[Release]:
    """Release the whole hold of a call in review and free its idempotency key."""
    return call(
        "billing_release",
        _read_release,
        usage_id=usage_id,
        resolution=resolution,
        book_loss=book_loss,
        expected=_IN_REVIEW,
    )


def note_look_up(*, usage_id: str, next_at: datetime) -> Statement[None]:
    """Record that a call in review was looked up at its upstream, and when to look it up again."""
    return call("billing_note_look_up", _first, usage_id=usage_id, next_at=next_at)


def grant_credit(
    *,
    lot_id: str,
    owner: Owner,
    amount_microusd: int,
    source_kind: str,
    source_key: str,
    product: str | None = None,
    expires_at: datetime | None = None,
    now: datetime | None = None,
) -> Statement[Grant]:
    """Grant a credit, once per source."""
    return call(
        "billing_grant_credit",
        Grant._make,
        lot_id=lot_id,
        product=product,
        expires_at=expires_at,
        source_kind=source_kind,
        source_key=source_key,
        **_sum(owner, amount_microusd, now),
    )


def take_payment(
    *,
    owner: Owner,
    amount_microusd: int,
    source: str,
    lot_id: str,
    product: str | None = None,
    now: datetime | None = None,
) -> Statement[Payment]:
    """Credit confirmed money, once per source: debt first, then balance, or a credit for the product."""
    return call(
        "billing_take_payment",
        Payment._make,
        product=product,
        source=source,
        lot_id=lot_id,
        **_sum(owner, amount_microusd, now),
    )


def take_back(
    *, owner: Owner, amount_microusd: int, source: str, payment: str | None = None, now: datetime | None = None
) -> Statement[Refund]:
    """Book a refund or a dispute, once per source: the payment's own credit, then balance, then a debt."""
    return call(
        "billing_take_back",
        Refund._make,
        source=source,
        payment=payment,
        **_sum(owner, amount_microusd, now),
    )


def give_back(
    *,
    owner: Owner,
    amount_microusd: int,
    source: str,
    payment: str,
    lot_id: str,
    product: str | None = None,
    now: datetime | None = None,
) -> Statement[Payment]:
    """Undo part of what was taken back of a payment, once per source: debt first, then if it was taken from."""
    return call(
        "billing_give_back",
        Payment._make,
        product=product,
        source=source,
        payment=payment,
        lot_id=lot_id,
        **_sum(owner, amount_microusd, now),
    )


def reap(*, limit: int = 100, now: datetime | None = None) -> Statement[Any]:
    """Move calls past their deadline to review; rows of (usage id, "review")."""
    return call("billing_reap", _whole, limit=limit, **_at(now))


def sweep_lots(*, limit: int = 100, now: datetime | None = None) -> Statement[Any]:
    """Post the remainder of expired credits; rows of (lot id, amount in micro-USD)."""
    return call("billing_sweep_lots", _whole, limit=limit, **_at(now))


def merge_lots(*, lot_id: str, limit: int = 256, now: datetime | None = None) -> Statement[Any]:
    """Merge credits with the same terms into the new lot `lot_id`; at most one row of (wallet id, count, micro-USD)."""
    return call("billing_merge_lots", _whole, lot_id=lot_id, limit=limit, **_at(now))


def forfeit_credits(*, owner: Owner, now: datetime | None = None) -> Statement[int]:
    """End all granted credits of an owner whose account is closed; return their amount in micro-USD."""
    return call("billing_forfeit_credits", _first, owner_kind=owner[0], owner_key=owner[1], **_at(now))


def repay_debts(*, limit: int = 100, now: datetime | None = None) -> Statement[Any]:
    """Repay debts from released credits and balance; rows of (wallet id, amount in micro-USD)."""
    return call("billing_repay_debts", _whole, limit=limit, **_at(now))


def set_low_balance(*, owner: Owner, amount_microusd: int, now: datetime | None = None) -> Statement[int]:
    """Set a wallet's threshold for alerts; return what it was."""
    return call("billing_set_low_balance", _first, **_sum(owner, amount_microusd, now))


def watch_wallets(*, wallet_ids: Sequence[str], now: datetime | None = None) -> Statement[list[str]]:
    """Record alerts of those of the wallets that nobody else has locked, at least of one; return which these are."""
    return call("billing_watch_wallets", _first, wallet_ids=list(wallet_ids), **_at(now))


def watch_budgets(*, wallet_id: str, now: datetime) -> Statement[Any]:
    """Record the thresholds that budgets of a wallet have reached. The caller holds the wallet's lock."""
    return call("billing_watch_budgets", _first, wallet_id=wallet_id, now=now)


def begin_auto_top_up(*, wallet_id: str, now: datetime) -> Statement[str | None]:
    """Begin an automatic top-up of a wallet that the caller has locked, if one is due; return its charge's id."""
    return call("billing_begin_auto_top_up", _first, wallet_id=wallet_id, now=now)


def begin_auto_top_ups(*, now: datetime, limit: int = 100) -> Statement[Any]:
    """Begin the automatic top-ups that are due; rows of charge ids."""
    return call("billing_begin_auto_top_ups", _whole, now=now, limit=limit)


def read_replay(usage_id: str | None, status: int | None, headers: Any, body: bytes | None) -> Replay | None:
    """Read the four columns of a stored response."""
    return None if status is None or body is None else Replay(status, headers, bytes(body), usage_id)


def _sum(owner: Owner, amount_microusd: int, now: datetime | None) -> dict[str, Any]:
    """Return whose money it is, how much, and the instant, as arguments."""
    return {"owner_kind": owner[0], "owner_key": owner[1], "amount": Int8(amount_microusd), **_at(now)}


def _at(now: datetime | None) -> dict[str, datetime]:
    """Return the instant as an argument; without one, the function uses the database's clock."""
    return {} if now is None else {"now": now}


def _read_settlement(row: Any) -> Settlement:
    return Settlement(CloseOutcome(row[0]), *row[1:])


def _read_release(row: Any) -> Release:
    return Release(CloseOutcome(row[0]), row[1])


def _first(row: Any) -> Any:
    return row[0]


def _whole(row: Any) -> Any:
    return row
