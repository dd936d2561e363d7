"""The first round trip of a metered call: proof, repeated request, live access, and the hold.

A call that needs preparing makes one more round trip before it, which only tests the hold. Nothing is sent upstream before.
"""

import logging
from contextlib import suppress

import psycopg

from accounts.operations.replays import refusal
from billing.operations import closings
from billing.operations.ledger import Hold, HoldOutcome, Replay
from gateway.core import database
from gateway.core.contract.errors import (
    BudgetExceeded,
    IdempotencyInProgress,
    IdempotencyKeyReused,
    InsufficientFunds,
    NotReady,
)
from gateway.core.database import Unanswered
from gateway.core.runtime.background import spawn
from inference.metering.answers import answer_is_gone
from inference.metering.call import Call
from inference.metering.checks import Arrival, Checked, Refused
from inference.metering.closing import release_unknown
from inference.metering.hold import Opened, hold_element, proof_element, refusal_element, trial_element
from organizations.rules.access import denial

log = logging.getLogger("inference.opening")


async def refuse(refused: Refused) -> Replay:
    """Record the proof of a request that failed a check, and raise its error. A repeated request gets its first answer."""
    found = _admitted(await database.run(refusal_element(refused)))
    if found is not None and found.outcome != HoldOutcome.FRESH:
        return _replay_or_raise(found, 0)
    raise refused.error


async def try_hold(checked: Checked) -> Replay | None:
    """Record the proof. Return None if the hold could be placed now. A repeated request gets its first answer.

    Raises the same errors as `open_call`.
    """
    try:
        found = _admitted(await database.run(trial_element(checked)))
    except psycopg.Error:
        spawn(_take_proof(checked.arrival))
        raise
    assert found is not None
    if found.outcome is HoldOutcome.FRESH:
        return None
    return _replay_or_raise(found, checked.request.hold_microusd)


async def open_call(call: Call, deadline_seconds: float) -> Replay | None:
    """Place the hold and mark the call as sent. Return None if it is open. A repeated request gets its first answer.

    Raises the catalogue's error if no hold was placed. A hold whose outcome is unknown is released in the background.
    """
    try:
        opened = await database.run(hold_element(call.checked, deadline_seconds))
    except Exception as error:
        log.error("%s: no hold (%s: %s)", call.usage_id, type(error).__name__, error)
        _give_up(call, error)
        if not isinstance(error, psycopg.Error):
            raise
        raise NotReady(headers={"Retry-After": "1"}) from error
    try:
        placed = _admitted(opened)
        assert placed is not None
        if placed.outcome is HoldOutcome.RESERVED:
            return None
        replay = _replay_or_raise(placed, call.hold_microusd)
    except BaseException:
        call.entry.done()
        raise
    call.entry.done()
    return replay


def _give_up(call: Call, error: Exception) -> None:
    """Make sure that no hold remains, and that the proof is recorded."""
    if isinstance(error, psycopg.Error) and not isinstance(error, Unanswered):
        call.entry.done()
    else:
        release_unknown(call.entry, closings.release(call.reference, resolution="not_sent"))
    if not call.checked.is_admitted:
        spawn(_take_proof(call.arrival))


async def _take_proof(arrival: Arrival) -> None:
    """Record the proof of a call whose hold failed: a proof can be used only once, even if its request fails."""
    with suppress(Exception):
        await database.run(proof_element(arrival))


def _admitted(opened: Opened) -> Hold | None:
    """Return the hold of an admitted request, or raise."""
    if error := refusal(opened.admission):
        raise error
    if opened.denied:
        raise denial(opened.denied)
    return opened.hold


def _replay_or_raise(found: Hold, required_microusd: int) -> Replay:
    match found.outcome:
        case HoldOutcome.REPLAY:
            assert found.replay
            return found.replay
        case HoldOutcome.IN_PROGRESS:
            raise IdempotencyInProgress(details={"usageId": found.usage_id}, headers={"Retry-After": "1"})
        case HoldOutcome.KEY_REUSED:
            raise IdempotencyKeyReused
        case HoldOutcome.BUDGET_EXCEEDED:
            message = f"This request would exceed the budget {found.budget_id}."
            raise BudgetExceeded(message, details={"budgetId": found.budget_id})
        case HoldOutcome.INSUFFICIENT_FUNDS:
            available = found.available_microusd
            raise InsufficientFunds(
                f"The request needs {required_microusd} micro-USD, but only {available} are available in the wallet.",
                details={"requiredMicrousd": required_microusd, "availableMicrousd": available},
            )
    raise answer_is_gone(usageId=found.usage_id)
