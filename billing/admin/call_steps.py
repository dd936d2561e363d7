"""The steps of a call in order of time: from its request's trace if it was kept, and from the ledger's rows."""

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import NamedTuple

from billing.models import Call, CallState, Seal
from billing.rules.call_causes import title
from gateway.core.console.moments import after, between, moment, offset
from gateway.core.console.phase_bars import PhaseBar, bar
from gateway.core.contract.amounts import usd
from gateway.core.telemetry.models import RequestTrace
from gateway.core.telemetry.rules.phases import Attempt, attempts_of, phases_of


class Step(NamedTuple):
    """A step, and the microseconds from the beginning to it."""

    offset: int
    text: str


_MARKS = {
    "authenticated": "Proof and token are valid",
    "received": "The body has arrived",
    "checked": "The checks outside the ledger are passed",
    "answered": "The last byte of the answer was passed to the client's connection",
}


def start_of(call: Call, trace: RequestTrace | None) -> datetime:
    """Return when the call began: its request's arrival, or the hold if that is all that is known."""
    return trace.began_at if trace else call.created_at


def bars(trace: RequestTrace) -> list[PhaseBar]:
    """Draw the phases of a request."""
    phases = phases_of(trace.steps, trace.duration_microseconds)
    whole = max([trace.duration_microseconds, *(phase.end for phase in phases)])
    return [bar(one.name, one.begin, one.end, whole=whole, kind=one.kind) for one in phases]


def rows(
    call: Call, trace: RequestTrace | None, seal: Seal | None, deployments: Mapping[str, str]
) -> list[tuple[str, str, str]]:
    """Return the rows of `console/steps.html`: time, distance from the start, words."""
    start = start_of(call, trace)
    steps = sorted([*_traced(call, trace, deployments), *_booked(call, trace, seal)], key=lambda step: step.offset)
    return [(moment(after(start, step.offset)), offset(step.offset), step.text) for step in steps]


def _traced(call: Call, trace: RequestTrace | None, deployments: Mapping[str, str]) -> Iterable[Step]:
    if trace is None:
        return
    yield Step(0, f"The request arrived: {trace.route}, {trace.request_id}")
    for name, at in trace.steps.get("marks") or ():
        if name == "held":
            yield Step(at, f"{usd(call.hold_microusd)} are held, and the call counts as sent")
        elif name == "settled":
            yield Step(at, _closing(trace))
        elif name in _MARKS:
            yield Step(at, _MARKS[name])
    for attempt in attempts_of(trace.steps):
        yield from _attempted(attempt, deployments)


def _attempted(attempt: Attempt, deployments: Mapping[str, str]) -> Iterable[Step]:
    name = deployments.get(attempt.deployment) or attempt.upstream or attempt.deployment
    yield Step(attempt.began, f"Attempt {attempt.number}: sent to {name}")
    status = f" with status {attempt.status}" if attempt.status else ""
    if attempt.first_byte is not None:
        yield Step(attempt.first_byte, f"First byte from {attempt.upstream or name}{status}")
    if attempt.ended is not None:
        ended = f"failed: {title(attempt.cause)}" if attempt.cause else "its answer is complete"
        yield Step(attempt.ended, f"Attempt {attempt.number} {ended}")


def _closing(trace: RequestTrace) -> str:
    match trace.outcome:
        case "settled":
            return f"The ledger charged {usd(trace.charge_microusd)}"
        case "review":
            return f"The ledger left the call to review: {title(trace.cause)}"
    return f"The ledger released the hold: {title(trace.cause)}"


def _booked(call: Call, trace: RequestTrace | None, seal: Seal | None) -> Iterable[Step]:
    """Yield what the trace does not have: without one all, with one what came after it."""
    start = start_of(call, trace)
    if trace is None:
        yield Step(0, f"{usd(call.hold_microusd)} are held, and the call counts as sent")
    was_resolved = call.review_reason is not None
    if call.closed_at and (trace is None or was_resolved):
        yield Step(between(start, call.closed_at), _closed(call))
    if seal is not None:
        yield Step(between(start, seal.sealed_at), f"Seal {seal.pk} covers the call")


def _closed(call: Call) -> str:
    if call.state == CallState.SETTLED:
        return f"The ledger charged {usd(call.charge_microusd or 0)}"
    return f"The ledger released the hold: {title(call.resolution) or 'nothing was used'}"
