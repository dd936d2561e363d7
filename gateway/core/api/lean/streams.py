"""A streamed answer whose source can be closed at once when the client leaves."""

from collections.abc import AsyncIterator, Mapping
from typing import Protocol

from django.http import StreamingHttpResponse


class Incomplete(Exception):
    """A stream ends here, before it is whole, and its bytes cannot say so: the connection is cut instead."""


class Source(Protocol):
    """Where a stream's bytes come from. `aclose` may be called at any time, and does not wait for anything. Iteration
    may end with Incomplete."""

    def __aiter__(self) -> AsyncIterator[bytes]: ...

    async def aclose(self) -> None: ...


class LeanStreamingResponse(StreamingHttpResponse):
    """An answer that comes in pieces; `headers` name its media type. Whoever sends it closes its source."""

    def __init__(self, chunks: Source, headers: Mapping[str, str]) -> None:
        super().__init__(chunks, headers=headers)
        self["X-Accel-Buffering"] = "no"  # a buffering proxy would hold the pieces back
        self.chunks = chunks
