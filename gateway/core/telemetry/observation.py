"""What is observed of one model request, from its arrival to its end.

It never holds a prompt, an answer, an address, or a header other than `traceparent` and `tracestate`. It refers to nothing but plain values: a reference
to the call would keep the request's body in memory (`inference.metering.call`). No method raises, because no request may fail by
being observed.
"""

from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from enum import StrEnum
from functools import partial, wraps
from time import perf_counter_ns
from traceback import walk_tb
from typing import Any, NamedTuple, ParamSpec, cast

Parameters = ParamSpec("Parameters")

faults: list[str] = []
"""The first mistakes of this module's own, for a test and for a debugger; never more than FAULTS_MAX. Texts, because an exception
would keep the frames that it passed through, and a request's body in them, for as long as the process runs."""

FAULTS_MAX = 10


COUNT_TOKENS = "messages.count_tokens"
"""The route of requests that are observed, and cost nothing."""


class Outcome(StrEnum):
    """How a request ended. All but `refused`, `replayed`, `counted` and `failed` had a hold."""

    SETTLED = "settled"
    RELEASED = "released"
    REVIEW = "review"
    REFUSED = "refused"  # by a check: token, proof, limits, body, access, funds
    REPLAYED = "replayed"  # the first answer to a repeated request, again
    COUNTED = "counted"  # tokens, which is free
    FAILED = "failed"  # before its hold: an error of the gateway's own, or the client left


class Step(StrEnum):
    """The marks of a request, in their order. A request has those that it reached."""

    AUTHENTICATED = "authenticated"
    RECEIVED = "received"  # the body has arrived, and is parsed
    CHECKED = "checked"
    HELD = "held"
    SENT = "sent"  # the first attempt begins
    FIRST_BYTE = "first_byte"  # of the answer that the client gets
    UPSTREAM_DONE = "upstream_done"
    SETTLED = "settled"  # the ledger has closed the call: charged, released or left to review
    ANSWERED = "answered"  # the last byte was passed to the client's connection


class Mark(NamedTuple):
    """A step, and when it was reached, by `perf_counter_ns`."""

    name: str
    ns: int


_mark: Callable[[tuple[str, int]], Mark] = partial(tuple.__new__, Mark)
"""Build a mark in a third of the time that its own constructor takes."""


class Attempt:
    """One attempt at a deployment. `status` is the upstream's, None without a complete head; `cause` is "" if it succeeded.

    `ended_ns` is the end of the upstream's answer, or of its stream. Times are of `perf_counter_ns`.
    """

    __slots__ = ("began_ns", "cause", "deployment", "ended_ns", "first_byte_ns", "status", "upstream")

    def __init__(self, deployment: str, upstream: str, began_ns: int) -> None:
        self.deployment = deployment
        self.upstream = upstream
        self.began_ns = began_ns
        self.status: int | None = None
        self.first_byte_ns: int | None = None
        self.ended_ns: int | None = None
        self.cause = ""


def _text_of(error: Exception) -> str:
    """Return the name of an error, and the line that it comes from. Its own text may quote a value."""
    places = [f" in line {line} of {frame.f_code.co_filename}" for frame, line in walk_tb(error.__traceback__)]
    return "".join([type(error).__name__, *places[-1:]])


def _note(error: Exception) -> None:
    if len(faults) < FAULTS_MAX:
        faults.append(_text_of(error))


def harmless(method: Callable[Parameters, None]) -> Callable[Parameters, None]:
    """Keep the exceptions of a function that fills observations to this module."""

    @wraps(method)
    def call(*args: Any) -> None:  # positional only: names would take longer than most of the methods
        try:
            method(*args)  # type: ignore[call-arg]
        except Exception as error:  # noqa: BLE001 - see the module's docstring
            _note(error)

    return cast("Callable[Parameters, None]", call)


class Observation:
    """One model request. Texts are "" and numbers None while they are not known, or if there are none.

    - `route`, `request_id`, `traceparent`, `tracestate` and `is_stream` (an event stream, a stream of bytes, or a session)
    - `model`: the alias as it was asked for, if it exists; `product`, `account` (DID), `org_id`, `client_id`, `credential` (the
      thumbprint of the proof's key)
    - `usage_id`, `hold_microusd`, `hold_inputs` (what the hold was computed from: `price_version`, `max_cost_microusd`, and the bound
      quantities of the route), `charge_microusd`, `cost_microusd` (at the upstream, where it is known)
    - `status` and `code` (an error's) of the answer, `outcome`, and `cause`: a word of `causes`, or a refused request's error code
    - `marks` and `attempts`, in order of time
    - `began_at` (aware UTC), `began_ns` and `ended_ns` (`perf_counter_ns`)

    A request ends with its answer and its call, whichever is later. `parts` counts those that go on (`observers.leave`).
    """

    __slots__ = (
        "account",
        "attempts",
        "began_at",
        "began_ns",
        "cause",
        "charge_microusd",
        "client_id",
        "code",
        "cost_microusd",
        "credential",
        "ended_ns",
        "hold_inputs",
        "hold_microusd",
        "is_stream",
        "marks",
        "model",
        "org_id",
        "outcome",
        "parts",
        "product",
        "request_id",
        "route",
        "status",
        "traceparent",
        "tracestate",
        "usage_id",
    )

    def __init__(self, route: str, request_id: str, traceparent: str = "", tracestate: str = "") -> None:
        self.began_at = datetime.now(UTC)
        self.began_ns = perf_counter_ns()
        self.ended_ns: int | None = None
        self.route = route
        self.request_id = request_id
        self.traceparent = traceparent
        self.tracestate = tracestate
        self.is_stream = False
        self.model = self.product = self.account = self.org_id = self.client_id = self.credential = ""
        self.usage_id = self.code = self.cause = ""
        self.outcome = ""
        self.status: int | None = None
        self.hold_microusd: int | None = None
        self.hold_inputs: Mapping[str, int] = _NOTHING
        self.charge_microusd: int | None = None
        self.cost_microusd: int | None = None
        self.marks: list[Mark] = []
        self.attempts: list[Attempt] = []
        self.parts = 1

    def mark(self, step: Step) -> None:
        """Record that a step was reached now."""
        try:
            self.marks.append(_mark((step._value_, perf_counter_ns())))
        except Exception as error:  # noqa: BLE001 - as `harmless`, without another call
            _note(error)

    @harmless
    def mark_at(self, step: Step, ns: int | None) -> None:
        """Record when a step was reached, if that is known. Call it before later steps are recorded."""
        if ns is not None:
            self.marks.append(_mark((step._value_, ns)))

    @harmless
    def begin_attempt(self, deployment: str, upstream: str) -> None:
        """Record that an attempt at a deployment begins now."""
        now = perf_counter_ns()
        if not self.attempts:
            self.marks.append(_mark((_SENT, now)))
        self.attempts.append(Attempt(deployment, upstream, now))

    @harmless
    def begin_answer(self, status: int | None) -> None:
        """Record that the answer of the attempt under way, or the first event of its stream, has begun by now."""
        attempt = self.attempts[-1]
        attempt.first_byte_ns = attempt.first_byte_ns or perf_counter_ns()
        attempt.status = status

    @harmless
    def end_attempt(self, cause: str = "", status: int | None = None) -> None:
        """Record that the attempt under way ends now: why, if it failed, and the upstream's status, unless it is known by now."""
        attempt = self.attempts[-1]
        if attempt.ended_ns is None:
            attempt.ended_ns = perf_counter_ns()
            attempt.cause, attempt.status = cause, attempt.status or status

    def at(self, step: Step) -> int | None:
        """Return when a step was reached first, by `perf_counter_ns`; None if it was not."""
        return next((mark.ns for mark in self.marks if mark.name == step), None)

    @property
    def upstream(self) -> str:
        """Return the name of the upstream that was tried last."""
        return self.attempts[-1].upstream if self.attempts else ""

    @property
    def duration_ns(self) -> int:
        """Return the time from arrival to end; 0 before that."""
        return (self.ended_ns or self.began_ns) - self.began_ns

    @property
    def first_byte_ns(self) -> int | None:
        """Return the time from arrival to the first byte of the upstream's answer."""
        at = self.at(Step.FIRST_BYTE)
        return None if at is None else at - self.began_ns

    @property
    def overhead_ns(self) -> int:
        """Return the gateway's own time: without the arrival of the body, and without the time at upstreams (from the first attempt to
        the end of the last)."""
        end = self.ended_ns or self.began_ns
        own, arrival, sent = end - self.began_ns, 0, 0
        for name, ns in self.marks:  # once, in their order
            if name == _AUTHENTICATED:
                arrival = ns
            elif name == _RECEIVED and arrival:
                own, arrival = own - (ns - arrival), 0
            elif name == _SENT:
                sent = ns
            elif name == _UPSTREAM_DONE and sent:
                own, sent = own - (ns - sent), 0
        return own - (end - arrival if arrival else 0) - (end - sent if sent else 0)


_AUTHENTICATED, _RECEIVED = Step.AUTHENTICATED.value, Step.RECEIVED.value
_SENT, _UPSTREAM_DONE = Step.SENT.value, Step.UPSTREAM_DONE.value
_NOTHING: Mapping[str, int] = {}
