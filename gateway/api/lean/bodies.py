"""Reads a request's body, bounded in bytes and time."""

import asyncio
from collections.abc import Awaitable, Callable, Iterable
from typing import Any

from gateway.contract.errors import InvalidRequest, RequestTooLarge

Receive = Callable[[], Awaitable[dict[str, Any]]]

BODY_SECONDS = 60.0
"""A body that takes longer to arrive is given up."""


class ClientLeft(Exception):
    """The client closed the connection; nobody waits for an answer."""


class BodyReader:
    """The body of one request. `finished` says that every byte of it was taken from the server."""

    def __init__(self, receive: Receive, headers: Iterable[tuple[bytes, bytes]]) -> None:
        self._receive = receive
        self._announced = _announced_length(headers)
        self.finished = False

    async def read(self, limit_bytes: int) -> bytes:
        """Return the whole body. Raises RequestTooLarge before more than the limit is kept, or ClientLeft."""
        if self._announced > limit_bytes:
            raise _too_large(limit_bytes)
        message = await self._next()
        if self.finished:  # nearly every body comes in one piece
            return _within([message.get("body", b"")], limit_bytes)
        try:
            async with asyncio.timeout(BODY_SECONDS):
                return await self._rest(message.get("body", b""), limit_bytes)
        except TimeoutError:
            raise InvalidRequest("The body did not arrive in time.", headers={"Connection": "close"}) from None

    async def _rest(self, first: bytes, limit_bytes: int) -> bytes:
        pieces, size = [first], len(first)
        while not self.finished and size <= limit_bytes:
            message = await self._next()
            pieces.append(message.get("body", b""))
            size += len(pieces[-1])
        return _within(pieces, limit_bytes)

    async def _next(self) -> dict[str, Any]:
        message = await self._receive()
        if message["type"] == "http.disconnect":
            raise ClientLeft
        self.finished = not message.get("more_body", False)
        return message


def _within(pieces: list[bytes], limit_bytes: int) -> bytes:
    body = pieces[0] if len(pieces) == 1 else b"".join(pieces)
    if len(body) > limit_bytes:
        raise _too_large(limit_bytes)
    return body


def _announced_length(headers: Iterable[tuple[bytes, bytes]]) -> int:
    for name, value in headers:
        if name == b"content-length":
            return int(value) if value.isdigit() and len(value) < 20 else 0
    return 0


def _too_large(limit_bytes: int) -> RequestTooLarge:
    # The rest of the body is not read, so the connection cannot serve another request.
    return RequestTooLarge(details={"limitBytes": limit_bytes}, headers={"Connection": "close"})
