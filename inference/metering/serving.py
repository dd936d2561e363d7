"""Runs a metered call from its request to its answer, for every route.

The request's own task checks and waits. Everything from the hold to its closing runs in a separate task, which a client's
disconnect does not cancel. A plain call is completed even if its client disconnects: its provider works and charges
anyway, and a repeated request then gets the answer. A stream is cancelled, and what was delivered is charged.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable
from typing import Any

from billing.operations import closings
from billing.operations.ledger import Replay
from gateway.core.contract.errors import ApiError, NotReady
from gateway.core.http.draining import until_cut
from gateway.core.http.exceptions import as_api_error
from gateway.core.runtime.background import spawn
from gateway.core.runtime.turns import acting_for
from inference.interface.request import StreamedRequest
from inference.interface.upstream import Outcome, Overloaded, Stream
from inference.metering import checks, closing, opening, preparing, sending
from inference.metering.answers import StreamedAnswer, WholeAnswer, answer_again
from inference.metering.call import Call
from inference.metering.route import MeteredRequest, MeteredRoute
from inference.metering.streaming import StreamRun
from inference.metering.whole_answers import conclude, give_up

DEADLINE_MARGIN_SECONDS = 30.0
"""Time to record the outcome, added to the longest time that the upstream may take. An open stream extends its own
deadline."""

ServedAnswer = WholeAnswer | StreamedAnswer


Answered = asyncio.Future[ServedAnswer | ApiError | None]
Work = Callable[[Call], Awaitable[ServedAnswer | ApiError | None]]
RunSession = Callable[[Call, Stream], Awaitable[None]]


async def serve(request: MeteredRequest, route: MeteredRoute[Any, Any]) -> ServedAnswer:
    """Answer a metered request, or raise the catalogue's error: ServerStopped if the server stops before the answer."""
    async with until_cut():
        answer = await _admit(request, route, _send)
    assert answer is not None
    return answer


async def serve_session(request: MeteredRequest, route: MeteredRoute[Any, Any], run: RunSession) -> WholeAnswer | None:
    """Place the hold, open the upstream's side of a session and `run` it, which also closes the call; return None after it.

    A repeated request gets the stored answer of the first session. Raises the catalogue's error.
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
    arrival = await checks.begin(request, route)
    with acting_for(arrival.principal.did):
        checked = await checks.check(arrival)
        if isinstance(checked, checks.Refused):
            return await answer_again(await opening.refuse(checked))
        return await (_prepare_and_serve(checked, work) if checked.needs_preparing else _serve(checked, work))


async def _prepare_and_serve(checked: checks.Checked, work: Work) -> ServedAnswer | None:
    with preparing.exclusively(checked) as refused:
        if refused is not None:
            return await answer_again(await opening.refuse(refused))
        prepared = await preparing.prepare(checked)
        return await answer_again(prepared) if isinstance(prepared, Replay) else await _serve(prepared, work)


async def _serve(checked: checks.Checked, work: Work) -> ServedAnswer | None:
    try:
        call = Call.begin(checked)
    except NotReady as error:
        return await answer_again(
            await opening.refuse(checks.Refused(error, "hold", checked.arrival, checked.identity, checked.is_admitted))
        )
    checked.request.begin()
    answered: Answered = asyncio.get_running_loop().create_future()
    task = spawn(_complete(call, work, answered))
    try:
        answer = await answered
    except asyncio.CancelledError:
        call.client_left = True
        task.add_done_callback(_close_unclaimed_stream)
        raise
    if isinstance(answer, ApiError):
        raise answer
    return answer


async def _complete(call: Call, work: Work, answered: Answered) -> ServedAnswer | ApiError | None:
    """Run a call to its end, and pass the answer to the request's task if it still waits."""
    try:
        answer = await _run_to_end(call, work)
    except BaseException as error:
        if not answered.done():
            answered.set_exception(error)
        raise
    if not answered.done():
        answered.set_result(answer)
    return answer


async def _run_to_end(call: Call, work: Work) -> ServedAnswer | ApiError | None:
    """Run a call, and end its request unless a stream still needs it."""
    request = call.request  # a fallback may replace it
    answer: ServedAnswer | ApiError | None = None
    try:
        answer = await _run(call, work)
    finally:
        if not isinstance(answer, StreamedAnswer):
            request.end()
    return answer


async def _run(call: Call, work: Work) -> ServedAnswer | ApiError | None:
    """Run a call. Catalogue errors are returned, because nothing would catch them once the request's task has ended."""
    allowed_seconds = call.longest_seconds + DEADLINE_MARGIN_SECONDS
    begun = time.monotonic()
    try:
        replay = await opening.open_call(call, allowed_seconds)
        if replay is not None:
            return await answer_again(replay)
    except Exception as error:  # noqa: BLE001 - converted to the catalogue's error, which logs unknown ones
        return as_api_error(error)
    # A process that was paused for long must not send a call that others have given up meanwhile.
    if call.client_left or time.monotonic() - begun > allowed_seconds:
        await closing.deliver(call.entry, closings.release(call.reference, resolution="not_sent"))
        return NotReady()
    try:
        return await work(call)
    except Exception as error:  # noqa: BLE001 - the hold must be closed after any error
        return await give_up(call, error)


async def _send(call: Call) -> ServedAnswer | ApiError:
    request = call.request
    if not isinstance(request, StreamedRequest):
        return await conclude(call, await _outcome(call))
    opened = await sending.open_stream(call.plan, call.tried)
    if isinstance(opened, Outcome):
        return await conclude(call, opened)
    run = StreamRun(call, request, opened)
    return StreamedAnswer(run.headers, run)


async def _outcome(call: Call) -> Outcome:
    """Send a plain call. Only an explicit overload, which accepted nothing, lets the fallback model take it over."""
    outcome = await sending.send(call.plan, call.tried)
    if isinstance(outcome, Overloaded) and outcome.is_explicit and call.fall_back():
        return await sending.send(call.plan, call.tried)
    return outcome


def _close_unclaimed_stream(task: "asyncio.Task[ServedAnswer | ApiError | None]") -> None:
    """Close a stream whose client disconnected while it was being opened."""
    if not task.cancelled() and task.exception() is None and isinstance(answer := task.result(), StreamedAnswer):
        spawn(answer.events.aclose())
