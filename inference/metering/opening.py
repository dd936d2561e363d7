"""The second step of a metered call, its first round trip: proof, repeated request, live access, and the hold.

A call that needs preparing makes one more round trip before it, which only tests the hold. Nothing is sent upstream before.
"""

import logging
import time
from contextlib import suppress

import psycopg

from billing.operations import closings
from billing.operations.ledger import HoldOutcome, Replay
from gateway.core import database
from gateway.core.contract.errors import NotReady
from gateway.core.database import Unanswered
from gateway.core.runtime.background import spawn
from gateway.core.telemetry.causes import Cause
from gateway.core.telemetry.observation import Outcome
from inference.interface.plan import longest_seconds
from inference.metering import closing, observing, uncharged
from inference.metering.admission import Arrival, Checked, Refused
from inference.metering.call import Call
from inference.metering.hold import hold_element, proof_element, refusal_element, trial_element

log = logging.getLogger("inference.opening")

DEADLINE_MARGIN_SECONDS = 30.0
"""Time to record the outcome, added to the longest time that the upstream may take. An open stream extends its own
deadline."""


async def refuse(refused: Refused) -> Replay:
    """Record the proof of a request that failed a check, and raise its error. A repeated request gets its first answer."""
    uncharged.count(refused.arrival.principal)
    opened = await database.run(refusal_element(refused))
    replay = opened.replay_unless(HoldOutcome.FRESH) if opened.admitted() else None
    if replay is None:
        raise refused.error
    return replay


async def try_hold(checked: Checked) -> Replay | None:
    """Record the proof. Return None if the hold could be placed now. A repeated request gets its first answer.

    Raises the same errors as `open_call`.
    """
    try:
        tested = await database.run(trial_element(checked))
    except psycopg.Error:
        spawn(_take_proof(checked.arrival))
        raise
    return tested.replay_unless(HoldOutcome.FRESH, checked.request.hold_microusd)


async def open_call(call: Call) -> Replay | None:
    """Place the hold and mark the call as sent. Return None if it is open. A repeated request gets its first answer.

    Raises the catalogue's error if the call may not be sent. A hold whose outcome is unknown is released in the background.
    """
    allowed_seconds, begun = _longest_seconds(call) + DEADLINE_MARGIN_SECONDS, time.monotonic()
    try:
        opened = await database.run(hold_element(call.checked, allowed_seconds))
    except Exception as error:
        log.error("%s: no hold (%s: %s)", call.usage_id, type(error).__name__, error)
        _give_up(call, error)
        if not isinstance(error, psycopg.Error):
            raise
        raise NotReady(headers={"Retry-After": "1"}) from error
    try:
        replay = opened.replay_unless(HoldOutcome.HELD, call.hold_microusd)
    except BaseException:
        uncharged.count(call.arrival.principal)
        call.entry.done()
        raise
    if replay is not None:
        uncharged.count(call.arrival.principal)
        call.entry.done()
        return replay
    observing.held(call.observation, _terms(call), call.usage_id, call.hold_microusd)
    # A process that was paused for long must not send a call that others have given up meanwhile.
    if call.client_left or time.monotonic() - begun > allowed_seconds:
        uncharged.count(call.arrival.principal)
        unsent = Cause.NOT_SENT.value
        await call.close(closings.release(call.reference, resolution=unsent), Outcome.RELEASED, unsent)
        raise NotReady
    uncharged.make_up(call.arrival.principal)
    return None


def _terms(call: Call) -> dict[str, int]:
    """Return what the hold was computed from."""
    checked = call.checked
    most = {"price_version": checked.price.id, "max_cost_microusd": checked.identity.terms.max_cost_microusd}
    return {**most, **checked.request.bounds}


def _longest_seconds(call: Call) -> float:
    """Return the longest time until the call is answered or its stream has begun, including the fallback's time."""
    fallback = call.request.fallback
    return longest_seconds(call.plan.deployments) + (longest_seconds(fallback.model.deployments) if fallback else 0.0)


def _give_up(call: Call, error: Exception) -> None:
    """Make sure that no hold remains, and that the proof is recorded."""
    if isinstance(error, psycopg.Error) and not isinstance(error, Unanswered):
        call.entry.done()
    else:
        closing.release_unknown(call.entry, closings.release(call.reference, resolution=Cause.NOT_SENT.value))
    if not call.checked.is_admitted:
        spawn(_take_proof(call.arrival))


async def _take_proof(arrival: Arrival) -> None:
    """Record the proof of a call whose hold failed: a proof can be used only once, even if its request fails."""
    with suppress(Exception):
        await database.run(proof_element(arrival))
