"""Forwards a response body of raw bytes as it arrives."""

from typing import Any, Self

from gateway.core.outbound.bodies import read_part
from gateway.core.outbound.response import Response
from inference.adapters.errors import broken_by
from inference.adapters.exchange import NotJSONError
from inference.adapters.streams import STREAM_MAX_BYTES, HttpStream
from inference.interface.answer import Chunk
from inference.interface.upstream import Attempt


class ByteStream(HttpStream):
    """A body under the upstream's own media type. One without a length is complete when its connection is closed (RFC 9112
    section 8), as HTTP/1.0 servers send it."""

    def __init__(self, attempt: Attempt[Any], response: Response, media_type: str) -> None:
        self.media_type = media_type
        self._attempt = attempt
        self._response = response
        self._first: bytes | None = None
        self._read_bytes = 0

    async def begin(self) -> None:
        """Wait for the first bytes. Raises NotJSONError if there are none."""
        self._first = await self._read()
        if not self._first:
            raise NotJSONError("an empty body")

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> Chunk:
        try:
            data, self._first = self._first or await self._read(), None
        except Exception as error:
            self.ended(whole=False)
            raise broken_by(self._attempt, error) from error
        if data:
            return Chunk(data)
        self.ended(whole=True)
        raise StopAsyncIteration

    async def close(self) -> None:
        """Close the response. A body that was read to its end has already released its connection."""
        self.on_end = None
        self._response.close()

    async def _read(self) -> bytes:
        data = await read_part(self._response.content)
        self._read_bytes += len(data)
        if self._read_bytes > STREAM_MAX_BYTES:
            raise NotJSONError("stream too large")
        return data
