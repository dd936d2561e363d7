"""The first round trip of a metered call: proof, repeated request, live access, and the hold of a call that is sent.

Nothing goes upstream before it.
"""

from datetime import UTC, datetime, timedelta
from typing import Any, NamedTuple

from psycopg.types.numeric import Int8

from accounts.operations.replays import admit_arguments, refusal
from billing.operations import ledger
from billing.operations.ledger import Hold, HoldOutcome, Replay
from billing.operations.statement import Statement, call
from gateway.contract.errors import (
    BudgetExceeded,
    IdempotencyInProgress,
    IdempotencyKeyReused,
    InsufficientFunds,
    NotReady,
)
from inference.operations import ledger_trips
from inference.operations.closing import Release, close_later
from inference.operations.intake import Intake, Ready, Refused
from organizations.rules.access import denial

_NOTHING: dict[str, Any] = {
    "usage_id": None,
    "membership_id": None,
    "product": None,
    "client_id": None,
    "model": None,
    "request_id": None,
    "hold": None,
    "max_cost": None,
    "price_version": None,
    "deadline": None,
    "async": False,
}


class Opened(NamedTuple):
    """What the statement says: whether the caller is admitted, and what became of the hold.

    `denied` is why an organization's token has no live access; `failure` is the database's own.
    """

    admission: str
    hold: Hold | None
    failure: str | None = None
    denied: str | None = None


async def refuse(intake: Intake, refused: Refused) -> Replay:
    """Take the proof of a request that fails in the process, and raise why; a repeated one gets its first answer."""
    hold = _admitted(await ledger_trips.alone(_statement(intake, refused.stop_before, **_NOTHING)))
    if hold is not None and hold.outcome != HoldOutcome.FRESH:
        return _replay_or_raise(hold, 0)
    raise refused.error


async def open_call(intake: Intake, ready: Ready, deadline_seconds: float) -> Replay | None:
    """Place the hold and mark the call as sent; None means that it is open. A repeated request gets its first answer.

    Raises the catalogue's error where no hold was placed. Where it is not known whether one was, it is released behind.
    """
    try:
        opened = await _trip(intake, ready, deadline_seconds)
    except Exception:
        close_later(intake.verified.principal.owner, Release(ready.usage_id, "not_sent"))
        raise
    hold = _admitted(opened)
    assert hold is not None
    if hold.outcome != HoldOutcome.RESERVED:
        return _replay_or_raise(hold, ready.sized.hold_microusd)
    return None


async def _trip(intake: Intake, ready: Ready, deadline_seconds: float) -> Opened:
    deadline = datetime.now(UTC) + timedelta(seconds=deadline_seconds)
    owner = intake.verified.principal.owner
    if ledger_trips.shares_flush():
        return await ledger_trips.then_flush(owner, _hold_statement(intake, ready, deadline, flush=False))
    return await ledger_trips.in_turn(owner, _hold_statement(intake, ready, deadline, flush=True))


def _hold_statement(intake: Intake, ready: Ready, deadline: datetime, *, flush: bool) -> Statement[Opened]:
    """Make the statement that places the hold and marks the call as sent."""
    principal = intake.verified.principal
    assert intake.metering
    assert intake.model
    return _statement(
        intake,
        None,
        usage_id=ready.usage_id,
        membership_id=principal.membership_id,
        product=principal.product,
        client_id=principal.client_id,
        model=intake.model.name,
        request_id=intake.request.request_id,
        hold=Int8(ready.sized.hold_microusd),
        max_cost=Int8(intake.metering.max_cost_microusd),
        price_version=Int8(ready.price.id),
        deadline=deadline,
        **{"async": not flush},
    )


def _statement(intake: Intake, stop_before: str | None, **hold: Any) -> Statement[Opened]:
    principal = intake.verified.principal
    proof, issued_at, expires_at, did, session_id = admit_arguments(
        intake.verified.ticket, did=principal.did, session_id=principal.session_id
    )
    owner_kind, owner_key = principal.owner
    return call(
        "inference_open_call",
        _read,
        proof=proof,
        proof_issued_at=issued_at,
        proof_expires_at=expires_at,
        session_id=session_id,
        stop_before=stop_before,
        owner_kind=owner_kind,
        owner_key=owner_key,
        actor_did=did,
        route=intake.rules.route.value,
        key=intake.metering.idempotency_key if intake.metering else None,
        digest=intake.digest,
        **hold,
    )


def _read(row: Any) -> Opened:
    admission, outcome, usage_id, available, budget_id, status, headers, body, failure = row
    if outcome == "denied":
        return Opened(admission, None, denied=failure)
    if outcome is None or outcome == "failed":
        return Opened(admission, None, failure)
    hold = Hold(HoldOutcome(outcome), usage_id, available, budget_id, ledger.read_replay(status, headers, body))
    return Opened(admission, hold)


def _admitted(opened: Opened) -> Hold | None:
    """Return the hold of an admitted request, or raise."""
    if error := refusal(opened.admission):
        raise error
    if opened.denied:
        raise denial(opened.denied)
    if opened.failure:
        raise NotReady(private=opened.failure, headers={"Retry-After": "1"})
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
