"""The spans of an observed request: one of the request, and one below it for each of its steps and attempts.

Names and attributes are those of OpenTelemetry's semantic conventions where these have any, and `gateway.…` where not. Nothing of a
prompt, an answer, a person or a key is among them.
"""

from collections.abc import Iterator
from typing import NamedTuple

from gateway.core.telemetry.observation import COUNT_TOKENS, Attempt, Observation, Step

Attributes = dict[str, str | int]

OPERATIONS = {
    "chat.completions": "chat",
    "responses": "chat",
    "messages": "chat",
    COUNT_TOKENS: "count_tokens",
    "embeddings.contextual": "embeddings",
}
"""`gen_ai.operation.name` by route, where the convention's word is not the route's own."""

STEPS = (
    (Step.AUTHENTICATED, "authenticate"),
    (Step.RECEIVED, "receive"),
    (Step.CHECKED, "check"),
    (Step.HELD, "hold"),
)
"""The steps before the call is sent. Each begins where the one before it ended."""

SERVER_ERROR = 500


class Span(NamedTuple):
    """A span. Times are of `perf_counter_ns`; `error` is the type of the error with which it failed, "" if it did not."""

    name: str
    began_ns: int
    ended_ns: int
    attributes: Attributes
    error: str = ""
    first_byte_ns: int | None = None


def span_of_request(one: Observation, path: str) -> Span:
    """Return the span of the whole request. As a server's, it failed only if its status says that the server did."""
    method = "GET" if one.status == 101 else "POST"
    status = one.status or 0
    attributes = _present(
        {
            "http.request.method": method,
            "http.route": path,
            "http.response.status_code": status,
            "gen_ai.operation.name": _operation(one),
            "gen_ai.request.model": one.model,
            "gateway.route": one.route,
            "gateway.request_id": one.request_id,
            "gateway.usage_id": one.usage_id,
            "gateway.outcome": one.outcome,
            "gateway.cause": one.cause,
            "gateway.product": one.product,
            "error.type": one.code if status >= SERVER_ERROR else "",
        }
    )
    if one.charge_microusd is not None:
        attributes["gateway.charge_microusd"] = one.charge_microusd
    error = (one.code or str(status)) if status >= SERVER_ERROR else ""
    return Span(f"{method} {path}", one.began_ns, one.ended_ns or one.began_ns, attributes, error)


def spans_of_steps(one: Observation) -> Iterator[Span]:
    """Yield the spans of the gateway's own steps that the request reached."""
    before = one.began_ns
    for step, name in STEPS:
        at = one.at(step)
        if at is not None:
            yield Span(name, before, max(at, before), _hold(one) if step is Step.HELD else {})
            before = max(at, before)
    settled = one.at(Step.SETTLED)
    if settled is not None:
        begin = one.at(Step.UPSTREAM_DONE) or _last_end(one) or before
        yield Span("settle", min(begin, settled), settled, _present({"gateway.outcome": one.outcome}))


def span_of_attempt(one: Observation, attempt: Attempt) -> Span:
    """Return the span of one attempt at a deployment."""
    attributes = _present(
        {
            "gen_ai.operation.name": _operation(one),
            "gen_ai.request.model": one.model,
            "http.request.method": "POST",
            "http.response.status_code": attempt.status or 0,
            "gateway.upstream": attempt.upstream,
            "gateway.deployment": attempt.deployment,
            "error.type": attempt.cause,
        }
    )
    name = f"{_operation(one)} {one.model}".strip()
    ended_ns = attempt.ended_ns or one.ended_ns or attempt.began_ns
    return Span(
        name, attempt.began_ns, max(ended_ns, attempt.began_ns), attributes, attempt.cause, attempt.first_byte_ns
    )


def _operation(one: Observation) -> str:
    return OPERATIONS.get(one.route, one.route)


def _hold(one: Observation) -> Attributes:
    return {} if one.hold_microusd is None else {"gateway.hold_microusd": one.hold_microusd}


def _last_end(one: Observation) -> int | None:
    return one.attempts[-1].ended_ns if one.attempts else None


def _present(attributes: Attributes) -> Attributes:
    return {name: value for name, value in attributes.items() if value}
