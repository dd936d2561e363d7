"""Runs a metered call from its request to its answer, for every route, in four steps:

1. admit (`admission`, `preparing`): check the request, and fetch what it lacks
2. open (`opening`): place the hold
3. send (`sending`): call the upstream
4. close (`whole_answers`, `streaming`): charge the call, release it or leave it to review

The request's own task admits and then waits. The other steps run in a task of the call's own, which a client's disconnect
does not cancel. A plain call is completed even if its client disconnects: its provider works and charges anyway, and a
repeated request then gets the answer. A stream is cancelled, and what was delivered is charged.
"""

import asyncio
from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any, ClassVar, TypeVar

from billing.operations.ledger import Replay
from gateway.core.api.async_viewsets import LeanViewSet
from gateway.core.contract.errors import ApiError, NotReady
from gateway.core.http.draining import until_cut
from gateway.core.http.exceptions import answered as answered_error
from gateway.core.http.exceptions import as_api_error
from gateway.core.http.lean import ClientLeft, LeanAnswer, LeanRequest, LeanResponse, LeanStreamingResponse
from gateway.core.runtime.background import spawn
from gateway.core.runtime.turns import acting_for
from gateway.core.telemetry import observers
from gateway.core.telemetry.observation import Observation, Step
from inference.interface.request import StreamedRequest
from inference.interface.upstream import Outcome, Overloaded, Stream
from inference.metering import admission, observing, open_streams, opening, preparing, sending
from inference.metering.admission import Arrival, Checked, Refused
from inference.metering.answers import StreamedAnswer, WholeAnswer, answer_again
from inference.metering.call import Call
from inference.metering.route import MeteredRequest, MeteredRoute
from inference.metering.streaming import StreamRun
from inference.metering.whole_answers import conclude, give_up

ServedAnswer = WholeAnswer | StreamedAnswer
Result = ServedAnswer | ApiError | None
"""An error is returned where nothing would catch it, because the request's task may have ended; None ends a session."""

Observed = TypeVar("Observed")
Send = Callable[[Call], Awaitable[Result]]
RunSession = Callable[[Call, Stream], Awaitable[None]]


class MeteredViewSet(LeanViewSet):
    """A metered route's viewset."""

    route: ClassVar[MeteredRoute[Any, Any]]

    async def serve(self, request: LeanRequest) -> LeanAnswer:
        """Run the call and render its answer, or raise the catalogue's error: ServerStopped if the server stops before the
        answer."""
        observation = observing.begin(request, self.route)
        request.on_end(partial(observing.end_request, observation))
        answer = await _observed(observation, _serve_until_cut(request, self.route, observation))
        assert answer is not None
        if isinstance(answer, StreamedAnswer):
            return LeanStreamingResponse(answer.events, answer.headers)
        return LeanResponse(answer.body, answer.status, answer.headers)


async def serve_session(request: MeteredRequest, route: MeteredRoute[Any, Any], run: RunSession) -> WholeAnswer | None:
    """Place the hold, open the upstream's side of a session and `run` it, which also closes the call; return None after it.

    A repeated request gets the stored answer of the first session. Raises the catalogue's error.
    """

    async def open_and_run(call: Call) -> Result:
        call.observation.is_stream = True
        opened = await sending.open_stream(call.plan, call.tried, call.returned)
        if isinstance(opened, Outcome):
            return await conclude(call, opened)
        with open_streams.counted():
            await run(call, opened)
        return None

    observation = observing.begin(request, route)
    try:
        answer = await _observed(observation, _serve(request, route, open_and_run, observation))
    finally:
        observing.end_request(observation, True)
    assert not isinstance(answer, StreamedAnswer)
    return answer


async def serve_count(
    request: LeanRequest,
    route: MeteredRoute[Any, Any],
    name: str,
    count: Callable[[Observation], Awaitable[LeanAnswer]],
) -> LeanAnswer:
    """Answer a request that costs nothing and has no hold, as the route beside `route` that is named. Raises the catalogue's error."""
    observation = observing.begin(request, route, name)
    request.on_end(partial(observing.end_request, observation))
    answer = await _observed(observation, count(observation))
    observing.counted(observation)
    return answer


async def _observed(observation: Observation, serving: Awaitable[Observed]) -> Observed:
    """Wait for the answer, and record it or the error that the client gets instead. Raises only catalogue errors, unless the client
    has left."""
    try:
        answer = await serving
    except (ClientLeft, asyncio.CancelledError):
        observing.left(observation)
        raise
    except Exception as error:  # noqa: BLE001 - converted to the catalogue's error, which logs unknown ones
        refusal = answered_error(error)
        observing.refused(observation, refusal)
        raise refusal from None
    observing.answered(observation, answer)
    return answer


async def _serve_until_cut(
    http: MeteredRequest, route: MeteredRoute[Any, Any], observation: Observation
) -> ServedAnswer | None:
    async with until_cut():
        return await _serve(http, route, _send, observation)


async def _serve(
    http: MeteredRequest, route: MeteredRoute[Any, Any], send: Send, observation: Observation
) -> ServedAnswer | None:
    """Admit a request, and run its call. `send` sends and closes it. Every answer states the rate limits, errors too."""
    arrival = await admission.authenticate(http, route, observation)
    try:
        answer = await _serve_arrival(arrival, send)
    except ApiError as error:
        error.headers |= arrival.limits.headers()
        raise
    headers = arrival.limits.headers()
    return answer if answer is None or not headers else answer.with_headers(headers)


async def _serve_arrival(arrival: Arrival, send: Send) -> ServedAnswer | None:
    with acting_for(arrival.principal.did):
        checked = await admission.check(arrival)
        if isinstance(checked, Refused):
            return await answer_again(await opening.refuse(checked))
        arrival.observation.mark(Step.CHECKED)
        if arrival.route.prepare is None or not checked.request.needs_preparing:
            return await _run(checked, send)
        with preparing.exclusively(checked) as refused:
            if refused is not None:
                return await answer_again(await opening.refuse(refused))
            prepared = await preparing.prepare(checked)
            return await (answer_again(prepared) if isinstance(prepared, Replay) else _run(prepared, send))


async def _run(checked: Checked, send: Send) -> ServedAnswer | None:
    """Run the call in its own task, and wait for its answer."""
    try:
        call = Call.begin(checked)
    except NotReady as error:
        refused = Refused(error, "hold", checked.arrival, checked.identity, checked.is_admitted)
        return await answer_again(await opening.refuse(refused))
    checked.request.begin()
    observers.join(call.observation)
    call.observation.is_stream = isinstance(checked.request, StreamedRequest)
    answered: asyncio.Future[Result] = asyncio.get_running_loop().create_future()
    task = spawn(_supervise(call, send, answered))
    try:
        answer = await answered
    except asyncio.CancelledError:
        call.client_left = True
        task.add_done_callback(_close_unclaimed_stream)
        raise
    if isinstance(answer, ApiError):
        raise answer
    return answer


async def _supervise(call: Call, send: Send, answered: asyncio.Future[Result]) -> Result:
    """Run a call to its end, and pass the answer to the request's task if it still waits. End the request before, unless a
    stream still needs it."""
    request = call.request  # a fallback may replace it
    answer: Result = None
    try:
        try:
            answer = await _open_and_send(call, send)
        finally:
            if not isinstance(answer, StreamedAnswer):
                call.end(request)
    except BaseException as error:
        if not answered.done():
            answered.set_exception(error)
        raise
    if not answered.done():
        answered.set_result(answer)
    return answer


async def _open_and_send(call: Call, send: Send) -> Result:
    try:
        replay = await opening.open_call(call)
        if replay is not None:
            return await answer_again(replay)
    except Exception as error:  # noqa: BLE001 - converted to the catalogue's error, which logs unknown ones
        return as_api_error(error)
    try:
        return await send(call)
    except Exception as error:  # noqa: BLE001 - the hold must be closed after any error
        return await give_up(call, error)


async def _send(call: Call) -> ServedAnswer | ApiError:
    """Send a call, and close it unless its answer is a stream, which closes it at its end.

    Only an explicit overload, which accepted nothing, lets the fallback model take a plain call over.
    """
    if isinstance(call.request, StreamedRequest):
        opened = await sending.open_stream(call.plan, call.tried, call.returned)
        if not isinstance(opened, Outcome):
            run = StreamRun(call, call.request, opened)
            return StreamedAnswer(run.headers, run)
        return await conclude(call, opened)
    outcome = await sending.send(call.plan, call.tried, call.returned)
    if isinstance(outcome, Overloaded) and outcome.is_explicit and call.fall_back():
        outcome = await sending.send(call.plan, call.tried, call.returned)
    return await conclude(call, outcome)


def _close_unclaimed_stream(task: asyncio.Task[Result]) -> None:
    """Close a stream whose client disconnected while it was being opened."""
    if not task.cancelled() and task.exception() is None and isinstance(answer := task.result(), StreamedAnswer):
        spawn(answer.events.aclose())
