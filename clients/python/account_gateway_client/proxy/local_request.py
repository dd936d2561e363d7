"""A tool's request, as uvicorn hands it over."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, MutableMapping
from typing import Any

from account_gateway_client.proxy.headers import RawHeaders, has_body, joined
from account_gateway_client.proxy.refusals import Refusal

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]

# The gateway takes 25 MiB at most.
MAX_BODY_BYTES = 32 * 2**20


class ClientLeft(Exception):
    """The tool closed its connection."""


class LocalRequest:
    """One request and its body, which can be read more than once: it is kept while it passes, to be sent again where the
    gateway asks for another proof or the connection breaks."""

    def __init__(self, scope: Message, receive: Receive) -> None:
        self.method: str = scope["method"]
        self.path: str = scope["raw_path"].decode("latin-1")
        self.query: str = scope["query_string"].decode("latin-1")
        self.raw_headers: RawHeaders = list(scope["headers"])
        self.headers = joined(self.raw_headers)
        self.peer: str | None = scope["client"][0] if scope["client"] else None
        self.body_is_whole = not has_body(self.headers)
        self._receive = receive
        self._body = bytearray()
        self._over = asyncio.Event()
        self._when_whole: Callable[[bytes], None] = lambda _body: None
        if self.body_is_whole:
            self._over.set()

    @property
    def target(self) -> str:
        """Return path and query."""
        return f"{self.path}?{self.query}" if self.query else self.path

    async def content(self) -> AsyncIterator[bytes]:
        """Yield the body, first what came already, then what comes. Raises ClientLeft, and Refusal where it is too large."""
        sent = 0
        while True:
            if piece := bytes(self._body[sent:]):
                sent += len(piece)
                yield piece
            elif self.body_is_whole:
                return
            else:
                await self._read_on()

    async def body(self) -> bytes:
        """Return the whole body; raises as `content`."""
        while not self.body_is_whole:
            await self._read_on()
        return bytes(self._body)

    def when_whole(self, tell: Callable[[bytes], None]) -> None:
        """Have `tell` called with the whole body, before anything answers it."""
        self._when_whole = tell
        if self.body_is_whole:
            tell(bytes(self._body))

    def answered(self) -> None:
        """Note that the body is not read any more, whether or not it is whole."""
        self._over.set()

    async def left(self) -> None:
        """Return when the tool has closed its connection; wait until the body is not read any more."""
        await self._over.wait()
        while (await self._receive())["type"] != "http.disconnect":
            pass

    async def _read_on(self) -> None:
        message = await self._receive()
        if message["type"] == "http.disconnect":
            raise ClientLeft
        self._body += message["body"]
        if len(self._body) > MAX_BODY_BYTES:
            raise Refusal(413, "request_too_large", f"A body may have {MAX_BODY_BYTES} bytes.")
        if not message["more_body"]:
            self.body_is_whole = True
            self._when_whole(bytes(self._body))
            self._over.set()
