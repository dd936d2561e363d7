"""The first round trip of a metered call: proof, repeated request, live access, and the hold of a call that is sent.

Nothing goes upstream before it.
"""

import logging
from contextlib import suppress
from typing import Any, NamedTuple

import orjson
import psycopg

from accounts.operations.replays import refusal
from billing.operations import closings
from billing.operations.ledger import Hold, HoldOutcome, Replay, read_replay
from gateway import database
from gateway.api.background import spawn
from gateway.contract.errors import (
    BudgetExceeded,
    IdempotencyInProgress,
    IdempotencyKeyReused,
    InsufficientFunds,
    NotReady,
)
from gateway.database import BatchFunction, Element, Unanswered
from inference.operations.call import Call
from inference.operations.closing import release_unknown
from inference.operations.intake import Intake, Refused
from organizations.rules.access import denial

log = logging.getLogger("inference.opening")

OPEN = BatchFunction(1, "inference_open_calls")


class Opened(NamedTuple):
    """What the ledger says: whether the caller is admitted, what became of the hold, why access was denied."""

    admission: str
    hold: Hold | None = None
    denied: str | None = None


async def refuse(intake: Intake, refused: Refused) -> Replay:
    """Take the proof of a request that fails in the process, and raise why; a repeated one gets its first answer."""
    hold = _admitted(await database.run(_element(intake, stop_before=refused.stop_before)))
    if hold is not None and hold.outcome != HoldOutcome.FRESH:
        return _replay_or_raise(hold, 0)
    raise refused.error


async def open_call(call: Call, deadline_seconds: float) -> Replay | None:
    """Place the hold and mark the call as sent; None means that it is open. A repeated request gets its first answer.

    Raises the catalogue's error where no hold was placed. Where it is not known whether one was, it is released behind.
    """
    try:
        opened = await database.run(_hold(call, deadline_seconds))
    except Exception as error:
        log.error("%s: no hold (%s: %s)", call.usage_id, type(error).__name__, error)
        _give_up(call, error)
        if not isinstance(error, psycopg.Error):
            raise
        raise NotReady(headers={"Retry-After": "1"}) from error
    try:
        hold = _admitted(opened)
        assert hold is not None
        if hold.outcome is HoldOutcome.RESERVED:
            return None
        replay = _replay_or_raise(hold, call.hold_microusd)
    except BaseException:
        call.entry.done()
        raise
    call.entry.done()
    return replay


def _give_up(call: Call, error: Exception) -> None:
    """See to it that no hold stays, and that the proof is taken."""
    if isinstance(error, psycopg.Error) and not isinstance(error, Unanswered):
        call.entry.done()
    else:
        release = closings.release(owner=call.owner, usage_id=call.usage_id, resolution="not_sent")
        release_unknown(call.entry, release)
    spawn(_take_proof(call.intake))


async def _take_proof(intake: Intake) -> None:
    """Take the proof of a call whose hold failed: it serves once, whatever became of the request."""
    with suppress(Exception):
        await database.run(_element(intake, stop_before="idempotency"))


def _hold(call: Call, deadline_seconds: float) -> Element[Opened]:
    """Build the element that places the hold and marks the call as sent."""
    principal = call.intake.verified.principal
    assert call.intake.metering
    assert call.intake.model
    return _element(
        call.intake,
        usage_id=call.usage_id,
        membership_id=principal.membership_id,
        product=principal.product,
        client_id=principal.client_id,
        model=call.intake.model.name,
        request_id=call.intake.request.request_id,
        hold=call.hold_microusd,
        max_cost=call.intake.metering.max_cost_microusd,
        price_version=call.ready.price.id,
        deadline_seconds=deadline_seconds,
    )


def _element(intake: Intake, **hold: Any) -> Element[Opened]:
    principal, ticket = intake.verified.principal, intake.verified.ticket
    owner_kind, owner_key = owner = principal.owner
    arguments = {
        "proof": ticket.digest.hex(),
        "proof_issued_at": ticket.issued_at,
        "proof_expires_at": ticket.expires_at,
        "did": principal.did,
        "session_id": principal.session_id,
        "owner_kind": owner_kind,
        "owner_key": owner_key,
        "route": intake.rules.route,
        "key": intake.metering.idempotency_key if intake.metering else None,
        "digest": intake.digest.hex() if intake.digest else None,
        **hold,
    }
    return Element(OPEN, owner, orjson.dumps(arguments), _read)


def _read(answer: dict[str, Any], body: bytes | None) -> Opened:
    outcome = answer.get("outcome")
    if outcome is None:
        return Opened(answer["admission"])
    if outcome == "denied":
        return Opened(answer["admission"], denied=answer["reason"])
    hold = Hold(
        HoldOutcome(outcome),
        answer["usage_id"],
        answer.get("available_microusd"),
        answer.get("budget_id"),
        read_replay(answer["replay_status"], answer["replay_headers"], body),
    )
    return Opened(answer["admission"], hold)


def _admitted(opened: Opened) -> Hold | None:
    """Return the hold of an admitted request, or raise."""
    if error := refusal(opened.admission):
        raise error
    if opened.denied:
        raise denial(opened.denied)
    return opened.hold


def _replay_or_raise(hold: Hold, required_microusd: int) -> Replay:
    match hold.outcome:
        case HoldOutcome.REPLAY:
            assert hold.replay
            return hold.replay
        case HoldOutcome.IN_PROGRESS:
            raise IdempotencyInProgress(details={"usageId": hold.usage_id}, headers={"Retry-After": "1"})
        case HoldOutcome.KEY_REUSED:
            raise IdempotencyKeyReused
        case HoldOutcome.BUDGET_EXCEEDED:
            raise BudgetExceeded(details={"budgetId": hold.budget_id})
        case HoldOutcome.INSUFFICIENT_FUNDS:
            available = hold.available_microusd
            raise InsufficientFunds(details={"requiredMicrousd": required_microusd, "availableMicrousd": available})
    # The first call was charged, but its answer is not there to be given again; a second one would cost again.
    raise IdempotencyKeyReused(
        "The call of this Idempotency-Key is closed and its answer was not kept. Send a new key to call again.",
        details={"usageId": hold.usage_id},
    )
