"""Reads a request's body, bounded in bytes and time."""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterable
from typing import Any

from django.conf import settings

from gateway.core.contract.errors import InvalidRequest, RequestTooLarge

Receive = Callable[[], Awaitable[dict[str, Any]]]


class ClientLeft(Exception):
    """The client closed the connection; nobody is waiting for a response."""


class BodyReader:
    """The body of one request. `size_bytes` have arrived, and that is all if it is `finished`; `announced_bytes` is the
    Content-Length, None if the body is chunked or absent."""

    def __init__(self, receive: Receive, headers: Iterable[tuple[bytes, bytes]]) -> None:
        self._receive = receive
        self._pieces: list[bytes] = []
        self.size_bytes = 0
        self.announced_bytes = _announced_bytes(headers)
        self.finished = False

    async def read(self, limit_bytes: int) -> bytes:
        """Return the whole body. Raises RequestTooLarge before storing more than the limit, InvalidRequest on a
        timeout, or ClientLeft."""
        if (self.announced_bytes or 0) > limit_bytes:
            raise _too_large(limit_bytes)
        if not self._pieces:
            await self._next()  # nearly always all of it; the server limits the time until the first byte
        if not self.finished:
            await self.begin(limit_bytes)
        if self.size_bytes > limit_bytes:
            raise _too_large(limit_bytes)
        pieces, self._pieces = self._pieces, []
        return pieces[0] if len(pieces) == 1 else b"".join(pieces)

    async def begin(self, size_bytes: int) -> None:
        """Read until more than `size_bytes` have arrived, or everything. Raises InvalidRequest on a timeout."""
        now = asyncio.get_running_loop().time
        end = now() + settings.BODY_SECONDS
        try:
            async with asyncio.timeout(settings.BODY_IDLE_SECONDS) as patience:
                while not self.finished and self.size_bytes <= size_bytes:
                    await self._next()
                    if not self.finished:
                        patience.reschedule(min(end, now() + settings.BODY_IDLE_SECONDS))
        except TimeoutError:
            raise _too_late() from None

    async def pieces(self, limit_bytes: int) -> AsyncGenerator[bytes, None]:
        """Yield the body as it arrives, without storing it. Raises as `read`."""
        if (self.announced_bytes or 0) > limit_bytes:
            raise _too_large(limit_bytes)
        now = asyncio.get_running_loop().time
        end = now() + settings.BODY_SECONDS
        while not self.finished:
            try:
                async with asyncio.timeout_at(min(end, now() + settings.BODY_IDLE_SECONDS)):
                    await self._next()
            except TimeoutError:
                raise _too_late() from None
            if self.size_bytes > limit_bytes:
                raise _too_large(limit_bytes)
            yield self._pieces.pop()

    async def _next(self) -> None:
        message = await self._receive()
        if message["type"] == "http.disconnect":
            raise ClientLeft
        piece = message.get("body", b"")
        self._pieces.append(piece)
        self.size_bytes += len(piece)
        self.finished = not message.get("more_body", False)


def _announced_bytes(headers: Iterable[tuple[bytes, bytes]]) -> int | None:
    for name, value in headers:
        if name == b"content-length":
            return int(value.lstrip(b"0")[:20] or 0) if value.isdigit() else 0  # 20 digits are enough for any limit
    return None


def _too_late() -> InvalidRequest:
    return InvalidRequest("The body did not arrive in time.", headers={"Connection": "close"})


def _too_large(limit_bytes: int) -> RequestTooLarge:
    # The rest of the body is not read, so the connection cannot serve another request.
    message = f"The body is larger than {limit_bytes} bytes."
    return RequestTooLarge(message, details={"limitBytes": limit_bytes}, headers={"Connection": "close"})
