"""One attempt at one upstream, and its outcome as a type.

The outcome alone decides about money (see `inference.rules.verdicts`), so an endpoint must never guess: what it cannot
be sure of is `Ambiguous`.
"""

from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Callable, Mapping
from dataclasses import field
from typing import Any, Generic, TypeVar

from gateway.core.contract.aliases import Route
from gateway.core.contract.errors import ApiError
from gateway.core.contract.values import value_class
from inference.rules.answer import Answer, Chunk
from inference.rules.request import BoundedRequest

Sent = TypeVar("Sent", bound=BoundedRequest)
OnEnd = Callable[[bool], None]

GENERATIONS = "generations"
"""The one kind of record that is looked up: what aggregators keep of a call, at `<base_url>/generation?id=`."""


@value_class(frozen=True, slots=True)
class UpstreamTarget:
    """Where an attempt goes: an upstream's row as a process caches it. Times are seconds. `fetches_images`: it may be sent
    the URL of an image. `routes` are those that it knows; None: all that its adapter has."""

    name: str
    adapter: str
    base_url: str
    api_key: str = field(repr=False)
    timeout_seconds: float = 120.0
    bills_errors: bool = False
    fetches_images: bool = False
    routes: frozenset[Route] | None = None
    options: Mapping[str, Any] = field(default_factory=dict)

    @property
    def looks_up(self) -> bool:
        """Return whether the upstream has a record of each call that is asked for where an outcome is unknown."""
        return self.adapter == "openai" and self.options.get("looks_up") == GENERATIONS


@value_class(frozen=True, slots=True)
class Attempt(Generic[Sent]):
    """One attempt. `request` is the route's own, and only its endpoints look into it; `model` is the upstream's name.

    `usage_id` names the call, and goes upstream as the idempotency key and client request id. `public_model` is the
    alias, and `public_id` the gateway's own id of the answer: they replace the upstream's in everything given back. The
    endpoint calls `on_send` before the first byte goes out: until then, nothing can have been taken, even if the process
    dies. It calls `on_generation` with the id of the upstream's own record of the call, where it looks such records up.
    """

    target: UpstreamTarget
    model: str
    request: Sent
    usage_id: str
    public_model: str
    public_id: str
    on_send: Callable[[], None] = field(default=lambda: None, compare=False, repr=False)
    on_generation: Callable[[str], None] = field(default=lambda generation_id: None, compare=False, repr=False)


@value_class(frozen=True, slots=True)
class Alarm:
    """What only the operator can mend. `cause` is a short name that is the same at every call, such as "401"; `text` is one
    line for the log and the console, without secrets."""

    cause: str
    text: str


@value_class(frozen=True, slots=True)
class Rejected:
    """A complete refusal that cost nothing: released, and the client gets `error`. `alarm` asks for the operator."""

    error: ApiError
    alarm: Alarm | None = None


@value_class(frozen=True, slots=True)
class Overloaded:
    """An overload (429, or 503 that says so): may be retried, elsewhere too. `retry_after` in seconds; `cause` is for the
    log. `is_explicit`: the answer names an overload in its body, so that another model may take the call over where its
    route allows that."""

    retry_after: float | None = None
    alarm: Alarm | None = None
    cause: str | None = field(default=None, compare=False)
    is_explicit: bool = False


@value_class(frozen=True, slots=True)
class Unreachable:
    """Nothing was sent (refused, DNS, TLS): may be retried, elsewhere too."""

    cause: str


@value_class(frozen=True, slots=True)
class Failed:
    """A complete error status that may not be retried; the upstream may have worked for it where it bills errors.
    `cause` is for the log."""

    status: int
    alarm: Alarm | None = None
    cause: str | None = field(default=None, compare=False)


@value_class(frozen=True, slots=True)
class Ambiguous:
    """Nobody knows whether work was done (timeout after sending, cut, malformed): review, and the client gets `error`."""

    error: ApiError
    reason: str


Outcome = Answer | Rejected | Overloaded | Unreachable | Failed | Ambiguous


class Stream(ABC):
    """An open upstream stream. Iterating ends normally only when the upstream said that it is done; a cut, a timeout
    or garbage raises `StreamBroken`. `on_end` hears once how the upstream ended it: whole, or broken off. A client that
    left is not told of. `media_type` is the upstream's own, where the client gets that; None for a stream of ours."""

    on_end: OnEnd | None = None
    media_type: str | None = None

    @property
    def has_next(self) -> bool:
        """Return whether the next chunk is here already, so that whoever sends them can send it together with the last."""
        return False

    @abstractmethod
    def __aiter__(self) -> AsyncIterator[Chunk]: ...

    @abstractmethod
    async def close(self) -> None:
        """Cancel the upstream call where it is still open. Safe to call twice."""

    def ended(self, *, whole: bool) -> None:
        """Report how the stream ended, once, to whoever asked for it."""
        if self.on_end is not None:
            self.on_end(whole)
            self.on_end = None


class StreamBroken(Exception):
    """The upstream's stream ended before it was done; `error` is what the client may know."""

    def __init__(self, error: ApiError, reason: str) -> None:
        self.error = error
        self.reason = reason
        super().__init__(reason)


class Endpoint(ABC, Generic[Sent]):
    """One route at upstreams of one protocol."""

    @property
    def is_allowed(self) -> bool:
        """Return whether this gateway may serve from it."""
        return True

    def refusal(self, valid: Any) -> ApiError | None:
        """Return why the route's valid request cannot be said to upstreams of this protocol, None where it can."""
        return None

    @abstractmethod
    async def send(self, attempt: Attempt[Sent]) -> Outcome:
        """Send and read the whole answer. Never raises but for cancellation."""

    @abstractmethod
    async def open_stream(self, attempt: Attempt[Sent]) -> Stream | Outcome:
        """Send and return once the upstream began a stream, or what it answered instead. Never raises but for
        cancellation. An upstream that answers a stream request in one piece gives an `Answer`."""
