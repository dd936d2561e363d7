"""One attempt at one upstream, and its outcome as a type.

The outcome alone decides the charge (see `inference.rules.verdicts`), so an endpoint must never guess: an uncertain
outcome is `Ambiguous`.
"""

from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Callable, Mapping
from dataclasses import field
from typing import Any, ClassVar, Generic, TypeVar

from gateway.core.contract.errors import ApiError
from gateway.core.contract.values import value_class
from inference.interface.answer import Answer, Chunk
from inference.interface.model import UpstreamTarget
from inference.interface.request import BoundedRequest

Sent = TypeVar("Sent", bound=BoundedRequest)
OnEnd = Callable[[bool], None]


@value_class(frozen=True, slots=True)
class CallContext:
    """The call that an attempt is made for: its names, and what is reported to it.

    `usage_id` identifies the call, and goes upstream as the idempotency key and client request id. `public_model` is
    the alias, and `public_id` the gateway's own id of the response: they replace the upstream's in everything returned.
    The endpoint calls `on_send` before it sends the first byte: until then the call cannot have cost anything, even if
    the process dies. It calls `on_generation` with the id of the upstream's own record of the call, if these are looked
    up, `on_answer` with the status of each answer whose head has arrived, and `on_refusal` with the status and the body of
    a complete one that is not a 2xx.
    """

    usage_id: str
    public_model: str
    public_id: str
    on_send: Callable[[], None] = field(default=lambda: None, compare=False, repr=False)
    on_generation: Callable[[str], None] = field(default=lambda generation_id: None, compare=False, repr=False)
    on_answer: Callable[[int], None] = field(default=lambda status: None, compare=False, repr=False)
    on_refusal: Callable[[int, Mapping[str, Any]], None] = field(
        default=lambda status, body: None, compare=False, repr=False
    )


@value_class(frozen=True, slots=True)
class Attempt(Generic[Sent]):
    """One attempt. `request` is the route's own, used only by its endpoints; `upstream_model` is the upstream's name of
    the model."""

    target: UpstreamTarget
    upstream_model: str
    request: Sent
    call: CallContext


@value_class(frozen=True, slots=True)
class Alarm:
    """A problem that only the operator can fix. `cause` is a short name, the same at every call, such as "401"; `text`
    is one line for the log and the console, without secrets."""

    cause: str
    text: str


@value_class(frozen=True, slots=True)
class Rejected:
    """A complete refusal without cost: the hold is released, and the client gets `error`. `alarm` is for the
    operator. `status` is the upstream's, None if nothing was sent."""

    error: ApiError
    alarm: Alarm | None = None
    status: int | None = field(default=None, compare=False)


@value_class(frozen=True, slots=True)
class Overloaded:
    """An overload (429, or a 503 that says so): may be retried, also elsewhere. `retry_after` in seconds; `cause` is
    for the log. `status` is None if a stream says so. `is_explicit`: the response's body names an overload, so that another model may take the call over if
    its route allows that."""

    retry_after: float | None = None
    alarm: Alarm | None = None
    cause: str | None = field(default=None, compare=False)
    is_explicit: bool = False
    status: int | None = field(default=None, compare=False)


@value_class(frozen=True, slots=True)
class Unreachable:
    """Nothing was sent (refused, DNS, TLS, or not connected in time: `is_late`): may be retried, also elsewhere."""

    cause: str
    is_late: bool = field(default=False, compare=False)


@value_class(frozen=True, slots=True)
class Failed:
    """A complete error status that must not be retried; it may have cost money if the upstream bills errors. `cause` is
    for the log."""

    status: int
    alarm: Alarm | None = None
    cause: str | None = field(default=None, compare=False)


@value_class(frozen=True, slots=True)
class Ambiguous:
    """It is unknown whether work was done (timeout after sending, cut, malformed): review, and the client gets
    `error`."""

    error: ApiError
    reason: str


Outcome = Answer | Rejected | Overloaded | Unreachable | Failed | Ambiguous


class Stream(ABC):
    """An open upstream stream. Iteration ends normally only if the upstream completed the stream; a cut, a timeout or
    invalid data raises `StreamBroken`. `on_end` is called once with how the upstream ended it: complete or broken off,
    but not if the client left. `media_type` is the upstream's own, if the client receives it; None for the gateway's
    own."""

    on_end: OnEnd | None = None
    media_type: str | None = None

    @property
    def has_next(self) -> bool:
        """Return whether the next chunk has already arrived, so that it can be sent together with the last one."""
        return False

    @abstractmethod
    def __aiter__(self) -> AsyncIterator[Chunk]: ...

    @abstractmethod
    async def close(self) -> None:
        """Cancel the upstream call if it is still open. Safe to call twice."""

    def ended(self, *, whole: bool) -> None:
        """Report how the stream ended, once, to the registered callback."""
        if self.on_end is not None:
            self.on_end(whole)
            self.on_end = None


class StreamBroken(Exception):
    """The upstream's stream ended before it was complete; `error` is for the client."""

    def __init__(self, error: ApiError, reason: str) -> None:
        self.error = error
        self.reason = reason
        super().__init__(reason)


class Endpoint(ABC, Generic[Sent]):
    """One route at upstreams with one protocol. `translates`: it may be unable to express some valid requests, which `refusal`
    finds out."""

    translates: ClassVar[bool] = False

    @property
    def is_allowed(self) -> bool:
        """Return whether this gateway may use it."""
        return True

    def refusal(self, valid: Any) -> ApiError | None:
        """Return why the route's valid request cannot be expressed in this protocol, None if it can."""
        return None

    @abstractmethod
    async def send(self, attempt: Attempt[Sent]) -> Outcome:
        """Send and read the complete response. Raises only on cancellation."""

    @abstractmethod
    async def open_stream(self, attempt: Attempt[Sent]) -> Stream | Outcome:
        """Send and return once the upstream has begun a stream, or its other outcome. Raises only on cancellation. An
        upstream that responds completely to a stream request gives an `Answer`."""
