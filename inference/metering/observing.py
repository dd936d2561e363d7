"""Fills the observation of a metered request, at the steps of its ladder.

Nothing here raises or waits, and nothing of a call's money depends on it. An observation has at most two parts: the request, which
ends with its answer, and the call, which ends with its closing (`gateway.core.telemetry.observers.leave`).
"""

import re
from collections.abc import Mapping
from typing import Any

from accounts.rules.principal import Principal
from billing.operations.ledger import CloseOutcome, Release, Settlement
from gateway.core.contract.errors import ApiError, InternalError, NotReady
from gateway.core.contract.headers import USAGE_ID
from gateway.core.http.draining import ServerStopped
from gateway.core.http.request_log import note_known
from gateway.core.telemetry import observers
from gateway.core.telemetry.causes import Cause
from gateway.core.telemetry.observation import Observation, Outcome, Step, harmless
from inference.interface.answer import Answer
from inference.interface.upstream import Outcome as UpstreamOutcome
from inference.interface.upstream import Stream
from inference.metering.answers import WholeAnswer
from inference.metering.route import Headers, MeteredRequest, MeteredRoute
from inference.rules.causes import cause_of

_TRACEPARENT = re.compile(rb"[0-9a-f]{2}-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}")

TRACESTATE_MAX_BYTES = 512

_ENDS = {
    CloseOutcome.SETTLED: Outcome.SETTLED,
    CloseOutcome.RELEASED: Outcome.RELEASED,
    CloseOutcome.REVIEW: Outcome.REVIEW,
}


def begin(http: MeteredRequest, route: MeteredRoute[Any, Any], name: str = "") -> Observation:
    """Begin the observation of a request that has just arrived: of the route, or of a free one beside it that is named."""
    observation = Observation(name or route.name.value, http.request_id, *_trace_context(http.raw_headers))
    note_known(observation)
    return observation


@harmless
def authenticated(observation: Observation, caller: Principal) -> None:
    """Record who calls."""
    observation.mark(Step.AUTHENTICATED)
    observation.account, observation.client_id, observation.credential = caller.did, caller.client_id, caller.jkt
    observation.product, observation.org_id = caller.product or "", caller.org_id or ""


@harmless
def returned(observation: Observation, outcome: UpstreamOutcome | Stream) -> None:
    """Record how an attempt ended, or that it has begun a stream."""
    attempt = observation.attempts[-1]
    if isinstance(outcome, Stream):
        attempt.first_byte_ns = None  # the head's: an event is what counts
        observation.begin_answer(attempt.status)
        observation.mark_at(Step.FIRST_BYTE, attempt.first_byte_ns)
        return
    observation.end_attempt(cause_of(outcome), getattr(outcome, "status", None))
    if isinstance(outcome, Answer):
        observation.mark_at(Step.FIRST_BYTE, attempt.first_byte_ns or attempt.ended_ns)


@harmless
def upstream_done(observation: Observation, cause: str = "") -> None:
    """Record that the upstream is done with the call: why, if it was while a stream was open."""
    if observation.attempts:
        observation.end_attempt(cause)
        observation.mark(Step.UPSTREAM_DONE)


@harmless
def closed(
    observation: Observation, outcome: Outcome, cause: str, row: Settlement | Release | CloseOutcome | None
) -> None:
    """Record how the call was closed, as `row` says, or as it will be (`outcome`) if that is not known yet."""
    observation.mark(Step.SETTLED)
    found: Any = getattr(row, "outcome", row)
    observation.outcome = _ENDS.get(found, outcome)
    observation.cause = cause
    if isinstance(row, Settlement):
        observation.charge_microusd = row.charge_microusd


@harmless
def held(observation: Observation, terms: Mapping[str, int], usage_id: str, hold_microusd: int) -> None:
    """Record that the hold was placed, and what it was computed from."""
    observation.mark(Step.HELD)
    observation.usage_id, observation.hold_microusd, observation.hold_inputs = usage_id, hold_microusd, terms


@harmless
def cost(observation: Observation, recorded: Mapping[str, Any]) -> None:
    """Record what the upstream charges the operator, if that could be computed."""
    observation.cost_microusd = recorded.get("cost_microusd")


@harmless
def answered(observation: Observation, answer: object) -> None:
    """Record an answer. One that no call of this request has made is the first one's, again."""
    observation.status = 101 if answer is None else 200
    if isinstance(answer, WholeAnswer):
        observation.status = answer.status
        if not observation.outcome:
            observation.outcome = Outcome.REPLAYED
            observation.usage_id = answer.headers.get(USAGE_ID, "")


@harmless
def counted(observation: Observation) -> None:
    """Record that the request was answered with a count of tokens, which is free."""
    observation.outcome = Outcome.COUNTED


@harmless
def refused(observation: Observation, error: ApiError) -> None:
    """Record an error that the client gets, which also says why, unless the call has ended before."""
    observation.status, observation.code = error.status, error.code
    if not observation.outcome:
        is_ours = isinstance(error, InternalError | NotReady)
        observation.outcome = Outcome.FAILED if is_ours else Outcome.REFUSED
        observation.cause = Cause.SERVER_STOPPED.value if isinstance(error, ServerStopped) else error.code


@harmless
def left(observation: Observation) -> None:
    """Record that the client left before its answer. A call that is under way still ends, and then says how."""
    if not observation.outcome:
        observation.outcome, observation.cause = Outcome.FAILED, Cause.CLIENT_LEFT.value


@harmless
def end_request(observation: Observation, is_answered: bool) -> None:
    """End the request's part of its observation."""
    if is_answered:
        observation.mark(Step.ANSWERED)
    observers.leave(observation)


def _trace_context(headers: Headers) -> tuple[str, str]:
    """Return `traceparent` and `tracestate` (W3C Trace Context), "" if there is none that can be read."""
    parent, state = "", ""
    for name, value in headers:
        if name == b"traceparent" and _TRACEPARENT.fullmatch(value):
            parent = value.decode("ascii")
        elif name == b"tracestate" and len(value) <= TRACESTATE_MAX_BYTES and value.isascii():
            state = value.decode("ascii")
    return parent, state if parent else ""
