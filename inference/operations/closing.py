"""The second round trip of a metered call: charge, release, or leave to reconciliation. Each happens at most once.

Closing outlives the request. Where the database is away it is tried again for a while; should the process die
meanwhile, the hold is still there, and the call goes to reconciliation when its deadline has passed.
"""

import asyncio
import logging
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from billing.operations import ledger
from billing.operations.ledger import CloseOutcome, Replay, Settlement
from billing.rules.owners import Owner
from billing.rules.quantities import Quantities
from gateway.api.background import spawn
from gateway.api.database_errors import DATABASE_AWAY
from inference.operations import ledger_trips

log = logging.getLogger("inference.closing")

CLIENT_WAIT_SECONDS = 5.0
"""How long a client waits for its charge to be written; its answer does not depend on it."""

PAUSES_SECONDS = (0.05, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 20.0, 20.0, 20.0, 20.0, 20.0)

AWAY = (*DATABASE_AWAY, OSError)


@dataclass(frozen=True, slots=True)
class Settle:
    """Charge `cost_microusd`, at most the hold. `basis` says whose count it is."""

    usage_id: str
    cost_microusd: int
    quantities: Quantities
    replay: Replay | None
    basis: str = "upstream"
    deployment: str | None = None


@dataclass(frozen=True, slots=True)
class Release:
    """Give the hold back: the upstream took nothing."""

    usage_id: str
    reason: str


@dataclass(frozen=True, slots=True)
class Review:
    """Nobody knows yet what it cost; `evidence` is what was delivered, as a usage record's columns and its charge."""

    usage_id: str
    reason: str
    evidence: Mapping[str, int] | None = None
    replay: Replay | None = None
    deployment: str | None = None


Closing = Settle | Release | Review


async def close(owner: Owner, closing: Closing) -> bool:
    """Close a call and wait a moment for it. False where that is still being tried when this returns."""
    try:
        async with asyncio.timeout(CLIENT_WAIT_SECONDS):
            await _attempt(owner, closing)
    except (*AWAY, TimeoutError) as error:
        log.warning("%s: closing is tried again (%s)", closing.usage_id, type(error).__name__)
        close_later(owner, closing)
        return False
    except Exception:
        log.exception("%s: not closed; it goes to reconciliation past its deadline", closing.usage_id)
        return False
    return True


def close_later(owner: Owner, closing: Closing) -> None:
    """Close a call behind the request's back, however often it takes within some minutes."""
    spawn(_persist(owner, closing))


async def _persist(owner: Owner, closing: Closing) -> None:
    for pause in PAUSES_SECONDS:
        try:
            await _attempt(owner, closing)
        except AWAY:
            await asyncio.sleep(pause)
        else:
            return
    log.error("%s: not closed; it goes to reconciliation past its deadline", closing.usage_id)


async def _attempt(owner: Owner, closing: Closing) -> None:
    match closing:
        case Settle():
            if ledger_trips.shares_flush():
                settlement = await ledger_trips.then_flush(owner, _settlement(closing, flush=False))
            else:
                settlement = await ledger_trips.in_turn(owner, _settlement(closing, flush=True))
            _report(closing, settlement)
        case Release():
            await ledger_trips.in_turn(owner, ledger.release(usage_id=closing.usage_id, resolution=closing.reason))
        case Review():
            await ledger_trips.alone(_review(closing))


def _settlement(closing: Settle, *, flush: bool) -> Any:
    return ledger.settle(
        usage_id=closing.usage_id,
        cost_microusd=closing.cost_microusd,
        basis=closing.basis,
        quantities=closing.quantities.counts(),
        replay=closing.replay,
        deployment=closing.deployment,
        flush=flush,
    )


def _review(closing: Review) -> Any:
    return ledger.to_review(
        usage_id=closing.usage_id,
        reason=closing.reason,
        evidence=closing.evidence,
        replay=closing.replay,
        deployment=closing.deployment,
    )


def _report(closing: Settle, settlement: Settlement) -> None:
    """Tell the operator what should not happen: a cost beyond the hold, or a call that somebody else had closed."""
    if settlement.overrun_microusd:
        log.error("%s: cost %d micro-USD beyond its hold", closing.usage_id, settlement.overrun_microusd)
    if settlement.outcome not in (CloseOutcome.SETTLED, CloseOutcome.ALREADY):
        log.error("%s: was %s before it could be charged", closing.usage_id, settlement.outcome)
