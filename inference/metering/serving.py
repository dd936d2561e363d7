"""A metered call from its request to its answer, the same for every route.

The request's own task checks and waits; everything between the hold and its closing runs in a task of its own, which a
client's departure does not reach. A plain call is carried through although its client left: its provider works and
charges all the same, and the repeated request then gets the answer. A stream is cancelled, and what was delivered is
charged.
"""

import asyncio
import time
from typing import Any

from billing.operations import closings
from gateway.core.api.background import spawn
from gateway.core.api.exceptions import as_api_error
from gateway.core.contract.errors import ApiError, NotReady
from inference.metering import checks, closing, opening, sending
from inference.metering.answers import StreamedAnswer, WholeAnswer, answer_again
from inference.metering.call import Call
from inference.metering.route import MeteredRequest, MeteredRoute
from inference.metering.streaming import StreamRun
from inference.metering.whole_answers import conclude, give_up
from inference.rules.request import StreamedRequest
from inference.rules.upstream import Outcome, Overloaded

DEADLINE_MARGIN_SECONDS = 30.0
"""Time to write the outcome down, on top of the longest that the upstream may take. A stream, once it has begun, moves
its own deadline out."""

ServedAnswer = WholeAnswer | StreamedAnswer


async def serve(request: MeteredRequest, route: MeteredRoute[Any, Any]) -> ServedAnswer:
    """Answer a metered request, or raise the catalogue's error."""
    checked = await checks.check(await checks.begin(request, route))
    if isinstance(checked, checks.Refused):
        return answer_again(await opening.refuse(checked))
    try:
        call = Call.begin(checked)
    except NotReady as error:
        return answer_again(await opening.refuse(checks.Refused(error, checked, "hold")))
    task = spawn(_carry_through(call))
    try:
        answer = await asyncio.shield(task)
    except asyncio.CancelledError:
        call.client_left = True
        task.add_done_callback(_forsake)
        raise
    if isinstance(answer, ApiError):
        raise answer
    return answer


async def _carry_through(call: Call) -> ServedAnswer | ApiError:
    """Run a call; the catalogue's errors are returned, so that none is raised when nobody is waiting any more."""
    allowed_seconds = call.longest_seconds + DEADLINE_MARGIN_SECONDS
    begun = time.monotonic()
    try:
        replay = await opening.open_call(call, allowed_seconds)
    except Exception as error:  # noqa: BLE001 - told as the catalogue's error; what is unknown is logged there
        return as_api_error(error)
    if replay is not None:
        return answer_again(replay)
    # A process that was stopped for long must not send what others have given up meanwhile.
    if call.client_left or time.monotonic() - begun > allowed_seconds:
        await closing.close(call.entry, closings.release(call.reference, resolution="not_sent"))
        return NotReady()
    try:
        return await _send(call)
    except Exception as error:  # noqa: BLE001 - whatever happened, the hold is not forgotten
        return await give_up(call, error)


async def _send(call: Call) -> ServedAnswer | ApiError:
    request = call.checked.request
    if not isinstance(request, StreamedRequest):
        return await conclude(call, await _outcome(call))
    opened = await sending.open_stream(call.plan, call.tried)
    if isinstance(opened, Outcome):
        return await conclude(call, opened)
    run = StreamRun(call, request, opened)
    return StreamedAnswer(run.headers, run)


async def _outcome(call: Call) -> Outcome:
    """Send a plain call. Only an explicit overload, which took nothing, lets another model take it over."""
    outcome = await sending.send(call.plan, call.tried)
    if isinstance(outcome, Overloaded) and outcome.is_explicit and call.fall_back():
        return await sending.send(call.plan, call.tried)
    return outcome


def _forsake(task: "asyncio.Task[ServedAnswer | ApiError]") -> None:
    """Close a stream that was opened for a client which has left meanwhile."""
    if not task.cancelled() and task.exception() is None and isinstance(answer := task.result(), StreamedAnswer):
        spawn(answer.events.aclose())
