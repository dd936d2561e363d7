"""The interface of a bounded request for the metering core: its hold, its usage, and its response format.

Each route has its own class, which also contains what its endpoints send.
"""

from abc import ABC, abstractmethod
from collections.abc import Container, Mapping
from dataclasses import dataclass
from typing import Any

import orjson

from billing.rules.quantities import Quantities
from gateway.core.contract.errors import ApiError
from inference.interface.answer import EVENT_STREAM_TYPE, Answer, Chunk, Content
from inference.interface.model import PriceVersion, ServedModel


class BoundedRequest(ABC):
    """A valid request with its hold and a complete response. `members` are the names that the client sent, `fallback` is
    the model that takes the call over if its own is overloaded, if the route provides one, and `public_id`
    the response's id, if one is already assigned."""

    hold_microusd: int
    fallback: "Fallback | None" = None
    public_id: str | None = None

    @property
    @abstractmethod
    def members(self) -> Container[str]: ...

    @property
    def service_tier(self) -> str | None:
        """Return the service tier that the request asks for, None for the default one."""
        return None

    @property
    def bounds(self) -> Mapping[str, int]:
        """Return the quantities that the hold covers, by their names in usage records, for who wants to follow its arithmetic; and
        `price_version`, if it was computed by another price than the model's own."""
        return {}

    @property
    def needs_preparing(self) -> bool:
        """Return whether the route's `prepare`, if it has one, has anything to fetch for this request."""
        return True

    @abstractmethod
    def usage(self, answer: Answer) -> Quantities:
        """Read or count the usage of a response. Raises MissingUsage if the price needs more, or MalformedUsage."""

    @abstractmethod
    def content(self, answer: Answer, *, usage_is_known: bool = True) -> Content:
        """Render a response for the client. `usage_is_known` is False if its charge is left to review."""

    def stored(self, answer: Answer) -> Mapping[str, Any]:
        """Return the part of a response that the closing statement stores, for the SQL function that the route closes
        with, whether its charge is known or left to review."""
        return {}

    def begin(self) -> None:  # noqa: B027 - most requests need nothing
        """Acquire the resources that the call needs even after the client has left."""

    def end(self) -> None:  # noqa: B027
        """Release them: the call is closed, and nothing more of it is sent. Called once for each `begin`."""


@dataclass(frozen=True, slots=True)
class Fallback:
    """The model that takes a call over, its prices, and the request sent there. The call's one hold covers the higher
    cost."""

    model: ServedModel
    price: PriceVersion
    request: BoundedRequest


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
        """Return the usage reported by the upstream. Raises MissingUsage or MalformedUsage."""

    @abstractmethod
    def delivered(self) -> Quantities:
        """Estimate the usage so far, within the hold."""

    def stored(self) -> Mapping[str, Any]:
        """Return what the closing statement stores of the stream, as `BoundedRequest.stored`, once its end was
        rendered."""
        return {}


class StreamFormat(ABC):
    """A route's stream format for the client, independent of the upstream."""

    media_type = EVENT_STREAM_TYPE

    @property
    def reports_errors(self) -> bool:
        """Return whether the stream itself can tell a client that it ended early."""
        return self.media_type == EVENT_STREAM_TYPE

    @property
    @abstractmethod
    def terminator(self) -> bytes:
        """Render the end of a stream, which the client receives once the call is settled."""

    def error(self, error: ApiError, request_id: str) -> bytes:
        """Render an error within the stream, by default in the form that the vendor's SDKs expect."""
        return b"data: %b\n\n" % orjson.dumps(error.body(request_id))

    def frame(self, chunk: Chunk) -> bytes:
        """Render what a chunk beyond the limit begins and ends, without its output, so that `cut` ends what the client knows; by
        default nothing."""
        return b""

    def cut(self) -> bytes:
        """Render the end of a stream that exceeded its limit, without the terminator; by default nothing, as for one that has no
        limit to exceed."""
        return b""


class StreamedRequest(BoundedRequest):
    """A valid request with its hold and a streamed response."""

    @abstractmethod
    def meter(self) -> StreamMeter:
        """Return a new meter for a stream."""

    @abstractmethod
    def stream_format(self, public_model: str, public_id: str, meter: Any) -> StreamFormat:
        """Return the format of a stream with this alias and id. `meter` is the stream's own, which has seen its
        events."""
