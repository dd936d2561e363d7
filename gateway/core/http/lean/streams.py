"""A streamed response whose source can be closed at once when the client disconnects."""

from collections.abc import AsyncIterator, Mapping
from typing import Protocol

from django.http import StreamingHttpResponse


class Incomplete(Exception):
    """A stream ends before it is complete, and its format cannot express that: the connection is closed instead."""


class Source(Protocol):
    """The source of a stream's bytes. `aclose` may be called at any time and does not block. Iteration may end with
    Incomplete."""

    def __aiter__(self) -> AsyncIterator[bytes]: ...

    async def aclose(self) -> None: ...


class LeanStreamingResponse(StreamingHttpResponse):
    """A response in pieces; `headers` name its media type. The sender closes its source."""

    def __init__(self, chunks: Source, headers: Mapping[str, str]) -> None:
        super().__init__(chunks, headers=headers)
        self["X-Accel-Buffering"] = "no"  # a buffering proxy would hold the pieces back
        self.chunks = chunks
