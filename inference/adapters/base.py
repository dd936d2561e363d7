"""What an adapter takes and gives: one attempt at one upstream, and its outcome as a type.

The outcome alone decides about money (see `inference.rules.outcomes`), so an adapter must never guess: what it cannot
be sure of is `Ambiguous`.
"""

from collections.abc import AsyncIterator, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Protocol

from gateway.contract.aliases import Route
from gateway.contract.errors import ApiError


@dataclass(frozen=True, slots=True)
class UpstreamTarget:
    """Where an attempt goes: an upstream's row as a process caches it. Times are seconds."""

    name: str
    adapter: str
    base_url: str
    api_key: str = field(repr=False)
    timeout_seconds: float = 120.0
    bills_errors: bool = False
    options: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Attempt:
    """One attempt. `body` is vendor-shaped, its output limit set; `model` is the upstream's name for it.

    `call_id` is the reservation: it goes upstream as the idempotency key and client request id. `public_model` is the
    alias, and `public_id` the gateway's own id of the answer: they replace the upstream's in everything given back.
    `show_usage` tells whether the client asked for a stream's usage chunk, `is_large` whether writing the body would keep
    the event loop for long. The adapter calls `on_send` before the first
    byte goes out: until then, nothing can have been taken, even if the process dies.
    """

    route: Route
    target: UpstreamTarget
    model: str
    body: Mapping[str, Any]
    call_id: str
    public_model: str
    public_id: str
    show_usage: bool = False
    is_large: bool = False
    on_send: Callable[[], None] = field(default=lambda: None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Answer:
    """A complete 2xx. `usage` is the vendor's usage object as it came (unchecked), or None where it sent none."""

    body: dict[str, Any]
    usage: Mapping[str, Any] | None


@dataclass(frozen=True, slots=True)
class Rejected:
    """A complete refusal that cost nothing: released, and the client gets `error`. `alarm` asks for the operator."""

    error: ApiError
    alarm: str | None = None


@dataclass(frozen=True, slots=True)
class Overloaded:
    """An explicit overload (429, or 503 that says so): may be retried, elsewhere too. `retry_after` in seconds."""

    retry_after: float | None = None
    alarm: str | None = None


@dataclass(frozen=True, slots=True)
class Unreachable:
    """Nothing was sent (refused, DNS, TLS): may be retried, elsewhere too."""

    cause: str


@dataclass(frozen=True, slots=True)
class Failed:
    """A complete error status that may not be retried; the upstream may have worked for it where it bills errors."""

    status: int
    alarm: str | None = None


@dataclass(frozen=True, slots=True)
class Ambiguous:
    """Nobody knows whether work was done (timeout after sending, cut, malformed): reconciling, client gets `error`."""

    error: ApiError
    reason: str


Outcome = Answer | Rejected | Overloaded | Unreachable | Failed | Ambiguous


@dataclass(frozen=True, slots=True)
class Chunk:
    """Bytes to forward as they are (whole SSE events, ids and model already ours), and what they tell.

    `data` may be empty (a usage event that the client did not ask for). `output_deltas` counts the events that carried
    output, `output_bytes` their UTF-8 bytes. `usage` is the vendor's usage object where this chunk carried one.
    """

    data: bytes
    output_deltas: int = 0
    output_bytes: int = 0
    usage: Mapping[str, Any] | None = None


class Stream(Protocol):
    """An open upstream stream. Iterating ends normally only when the upstream said that it is done; a cut, a timeout
    or garbage raises `StreamBroken`. `terminator` is what ends the client's stream (`data: [DONE]` for chat), sent by
    the caller before the receipt, which is a comment and the last line; `error_event` renders an error in the stream's own shape; `cut_event` renders the
    end of a stream that reached its output limit."""

    terminator: ClassVar[bytes]

    def __aiter__(self) -> AsyncIterator[Chunk]: ...

    async def close(self) -> None:
        """Cancel the upstream call where it is still open. Safe to call twice."""

    def error_event(self, error: ApiError, request_id: str) -> bytes: ...

    def cut_event(self) -> bytes: ...


class StreamBroken(Exception):
    """The upstream's stream ended before it was done; `error` is what the client may know."""

    def __init__(self, error: ApiError, reason: str) -> None:
        self.error = error
        self.reason = reason
        super().__init__(reason)


class Adapter(Protocol):
    """One upstream protocol."""

    name: ClassVar[str]
    routes: ClassVar[frozenset[Route]]

    async def send(self, attempt: Attempt) -> Outcome:
        """Send and read the whole answer. Never raises but for cancellation."""

    async def open_stream(self, attempt: Attempt) -> Stream | Outcome:
        """Send and return once the upstream began a stream, or what it answered instead. Never raises but for
        cancellation. An upstream that answers a stream request with plain JSON gives an `Answer`."""
