"""What the metering core asks of a request that may be sent: its hold, its usage, and how its answer is laid out.

Each route has a class of its own for it, which also holds what its endpoints send.
"""

from abc import ABC, abstractmethod
from collections.abc import Container, Mapping
from typing import TYPE_CHECKING, Any

from billing.rules.quantities import Quantities
from gateway.core.contract.errors import ApiError
from inference.rules.answer import EVENT_STREAM_TYPE, Answer, Chunk, Content

if TYPE_CHECKING:
    from inference.rules.fallback import Fallback


class BoundedRequest(ABC):
    """A valid request with its hold, answered in one piece. `members` are the names that the client sent."""

    hold_microusd: int

    @property
    @abstractmethod
    def members(self) -> Container[str]: ...

    @property
    def needs_preparing(self) -> bool:
        """Return whether the route's `prepare`, where it has one, has anything to get for this request."""
        return True

    @abstractmethod
    def usage(self, answer: Answer) -> Quantities:
        """Read or count what an answer used. Raises MissingUsage where the price needs more, or MalformedUsage."""

    @abstractmethod
    def content(self, answer: Answer, *, usage_is_known: bool = True) -> Content:
        """Render an answer for the client. `usage_is_known` is False where its charge is left to review."""

    @property
    def fallback(self) -> "Fallback | None":
        """Return who takes the call over where its own model says that it is overloaded; nobody unless a route says so."""
        return None

    def kept(self, answer: Answer) -> Mapping[str, Any]:
        """Return what the closing statement keeps of an answer that the client gets, for the SQL function that the route
        closes with, whether its charge is known or left to review."""
        return {}

    def begin(self) -> None:  # noqa: B027 - most requests need nothing
        """Keep what the request needs beyond the client's stay: its call begins."""

    def end(self) -> None:  # noqa: B027
        """Release it: the call is closed, and nothing of it is sent any more. Called once for each `begin`."""


class StreamMeter(ABC):
    """The running count of one stream."""

    @abstractmethod
    def add(self, chunk: Chunk) -> None:
        """Count one more chunk."""

    @property
    @abstractmethod
    def is_beyond_limit(self) -> bool:
        """Return whether more was delivered than the hold covers."""

    @abstractmethod
    def reported(self) -> Quantities:
        """Return what the upstream says was used. Raises MissingUsage or MalformedUsage."""

    @abstractmethod
    def delivered(self) -> Quantities:
        """Estimate what was used so far, within what the hold covers."""

    def kept(self) -> Mapping[str, Any]:
        """Return what the closing statement keeps of the stream, as `BoundedRequest.kept`, once its end was rendered."""
        return {}


class StreamFormat(ABC):
    """How a route's stream is laid out for the client, whoever serves it."""

    media_type = EVENT_STREAM_TYPE

    @property
    def tells_errors(self) -> bool:
        """Return whether a client learns from the stream itself that it ended early."""
        return self.media_type == EVENT_STREAM_TYPE

    @property
    @abstractmethod
    def terminator(self) -> bytes:
        """Render what a stream ends with; the client gets it once the call is settled."""

    @abstractmethod
    def error(self, error: ApiError, request_id: str) -> bytes:
        """Render an error within the stream."""

    @abstractmethod
    def cut(self) -> bytes:
        """Render the end of a stream that went beyond its limit, without the terminator."""


class StreamedRequest(BoundedRequest):
    """A valid request with its hold whose answer comes as a stream."""

    @abstractmethod
    def meter(self) -> StreamMeter:
        """Begin to count a stream."""

    @abstractmethod
    def stream_format(self, public_model: str, public_id: str, meter: Any) -> StreamFormat:
        """Return the layout of a stream under this alias and id. `meter` is the stream's own, which has seen its events."""
