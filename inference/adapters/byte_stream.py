"""A body of bytes that is handed on as it comes."""

from typing import Any, Self

import aiohttp

from inference.adapters.exchange import NotJSONError
from inference.adapters.failures import broken_by
from inference.adapters.streams import STREAM_MAX_BYTES, HttpStream
from inference.rules.answer import Chunk
from inference.rules.upstream import Attempt


class ByteStream(HttpStream):
    """A body under the upstream's own media type. Only one whose framing says where it ends can be known to be whole: what
    ends with its connection may as well have been cut."""

    def __init__(self, attempt: Attempt[Any], response: aiohttp.ClientResponse, media_type: str) -> None:
        self.media_type = media_type
        self._attempt = attempt
        self._response = response
        self._first: bytes | None = None
        self._read_bytes = 0

    async def begin(self) -> None:
        """Wait for the first bytes. Raises NotJSONError where there are none."""
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
        """Hang up. A body that was read to its end has freed its connection already."""
        self.on_end = None
        self._response.close()

    async def _read(self) -> bytes:
        data = await self._response.content.readany()
        self._read_bytes += len(data)
        if self._read_bytes > STREAM_MAX_BYTES:
            raise NotJSONError("stream too large")
        if not data and not _is_framed(self._response):
            raise ConnectionError("nothing says that this is the end")
        return data


def _is_framed(response: aiohttp.ClientResponse) -> bool:
    """Return whether the response said how long its body is (RFC 9112 section 6.3)."""
    return response.content_length is not None or "chunked" in response.headers.get("Transfer-Encoding", "").lower()
