"""A metered call from its request to its answer, the same for every route.

The request's own task checks and waits; everything between the hold and its closing runs in a task of its own, which a
client's departure does not reach. A plain call is carried through although its client left: its provider works and
charges all the same, and the repeated request then gets the answer. A stream is cancelled, and what was delivered is
charged.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable
from typing import Any

from billing.operations import closings
from billing.operations.ledger import Replay
from gateway.core.api.background import spawn
from gateway.core.api.exceptions import as_api_error
from gateway.core.contract.errors import ApiError, NotReady
from gateway.core.outbound.fetch_shares import on_behalf_of
from inference.metering import checks, closing, opening, preparing, sending
from inference.metering.answers import StreamedAnswer, WholeAnswer, answer_again
from inference.metering.call import Call
from inference.metering.route import MeteredRequest, MeteredRoute
from inference.metering.streaming import StreamRun
from inference.metering.whole_answers import conclude, give_up
from inference.rules.request import StreamedRequest
from inference.rules.upstream import Outcome, Overloaded, Stream

DEADLINE_MARGIN_SECONDS = 30.0
"""Time to write the outcome down, on top of the longest that the upstream may take. A stream, once it has begun, moves
its own deadline out."""

ServedAnswer = WholeAnswer | StreamedAnswer


Work = Callable[[Call], Awaitable[ServedAnswer | ApiError | None]]
RunSession = Callable[[Call, Stream], Awaitable[None]]


async def serve(request: MeteredRequest, route: MeteredRoute[Any, Any]) -> ServedAnswer:
    """Answer a metered request, or raise the catalogue's error."""
    answer = await _admit(request, route, _send)
    assert answer is not None
    return answer


async def serve_session(request: MeteredRequest, route: MeteredRoute[Any, Any], run: RunSession) -> WholeAnswer | None:
    """Hold, open the upstream's side of a session and `run` it, which also closes the call; None once it is over.

    A repeated request gets what the first session left. Raises the catalogue's error.
    """

    async def open_and_run(call: Call) -> ServedAnswer | ApiError | None:
        opened = await sending.open_stream(call.plan, call.tried)
        if isinstance(opened, Outcome):
            return await conclude(call, opened)
        await run(call, opened)
        return None

    answer = await _admit(request, route, open_and_run)
    assert not isinstance(answer, StreamedAnswer)
    return answer


async def _admit(request: MeteredRequest, route: MeteredRoute[Any, Any], work: Work) -> ServedAnswer | None:
    checked = await checks.check(await checks.begin(request, route))
    if isinstance(checked, checks.Refused):
        return await answer_again(await opening.refuse(checked))
    with on_behalf_of(checked.principal.did):
        return await (_prepare_and_serve(checked, work) if checked.needs_preparing else _serve(checked, work))


async def _prepare_and_serve(checked: checks.Checked, work: Work) -> ServedAnswer | None:
    with preparing.alone(checked) as refused:
        if refused is not None:
            return await answer_again(await opening.refuse(refused))
        prepared = await preparing.prepare(checked)
        return await answer_again(prepared) if isinstance(prepared, Replay) else await _serve(prepared, work)


async def _serve(checked: checks.Checked, work: Work) -> ServedAnswer | None:
    try:
        call = Call.begin(checked)
    except NotReady as error:
        return await answer_again(await opening.refuse(checks.Refused(error, checked, "hold")))
    checked.request.begin()
    task = spawn(_carry_through(call, work))
    try:
        answer = await asyncio.shield(task)
    except asyncio.CancelledError:
        call.client_left = True
        task.add_done_callback(_forsake)
        raise
    if isinstance(answer, ApiError):
        raise answer
    return answer


async def _carry_through(call: Call, work: Work) -> ServedAnswer | ApiError | None:
    """Run a call, and end its request unless a stream goes on to need it."""
    request = call.checked.request  # another may take the call over
    answer: ServedAnswer | ApiError | None = None
    try:
        answer = await _run(call, work)
    finally:
        if not isinstance(answer, StreamedAnswer):
            request.end()
    return answer


async def _run(call: Call, work: Work) -> ServedAnswer | ApiError | None:
    """Run a call; the catalogue's errors are returned, so that none is raised when nobody is waiting any more."""
    allowed_seconds = call.longest_seconds + DEADLINE_MARGIN_SECONDS
    begun = time.monotonic()
    try:
        replay = await opening.open_call(call, allowed_seconds)
        if replay is not None:
            return await answer_again(replay)
    except Exception as error:  # noqa: BLE001 - told as the catalogue's error; what is unknown is logged there
        return as_api_error(error)
    # A process that was stopped for long must not send what others have given up meanwhile.
    if call.client_left or time.monotonic() - begun > allowed_seconds:
        await closing.close(call.entry, closings.release(call.reference, resolution="not_sent"))
        return NotReady()
    try:
        return await work(call)
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


def _forsake(task: "asyncio.Task[ServedAnswer | ApiError | None]") -> None:
    """Close a stream that was opened for a client which has left meanwhile."""
    if not task.cancelled() and task.exception() is None and isinstance(answer := task.result(), StreamedAnswer):
        spawn(answer.events.aclose())
