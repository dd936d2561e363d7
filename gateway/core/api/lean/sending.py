"""Sends Django's response objects over ASGI."""

from collections.abc import Awaitable, Callable, Sequence
from typing import Any

from django.http.response import HttpResponse, HttpResponseBase

from gateway.core.api.lean.bodies import Receive
from gateway.core.api.lean.streams import LeanStreamingResponse

Send = Callable[[dict[str, Any]], Awaitable[None]]

Headers = Sequence[tuple[bytes, bytes]]
"""Headers as ASGI has them: names in lower case."""

CUT = "gateway.cut"
"""The server's own extension of a scope: closes the connection behind what was sent."""


async def send_response(send: Send, response: HttpResponseBase, defaults: Headers = ()) -> None:
    """Send a whole answer or a stream, with those of the default headers that it does not have itself. If the client does
    not read it, the server drops the connection. Raises Incomplete as the stream does."""
    headers = headers_of(response)
    names = {name for name, _ in headers}
    headers += [header for header in defaults if header[0] not in names]
    start = {"type": "http.response.start", "status": response.status_code, "headers": headers}
    if isinstance(response, LeanStreamingResponse):
        await _send_stream(send, start, response)
        return
    assert isinstance(response, HttpResponse)
    await send(start)
    await send({"type": "http.response.body", "body": response.content})


async def cut(scope: dict[str, Any], receive: Receive) -> None:
    """Close the connection of an answer that is not whole: without its last chunk, nobody takes it for one.

    A server without the extension closes it by itself, as its application returned too early.
    """
    close = scope.get("extensions", {}).get(CUT)
    if close is not None:
        close()
        while (await receive())["type"] != "http.disconnect":
            pass


async def _send_stream(send: Send, start: dict[str, Any], response: LeanStreamingResponse) -> None:
    try:
        await send(start)
        async for chunk in response.chunks:
            await send({"type": "http.response.body", "body": chunk, "more_body": True})
        await send({"type": "http.response.body", "body": b""})
    finally:
        # A source that waits for its consumer learns of the client's departure only by being closed.
        await response.chunks.aclose()


def headers_of(response: HttpResponseBase) -> list[tuple[bytes, bytes]]:
    """Return a response's headers as ASGI has them, with the length of a body that is whole."""
    headers = [(name.lower().encode("latin-1"), value.encode("latin-1")) for name, value in response.items()]
    if not response.streaming and "Content-Length" not in response:
        headers.append((b"content-length", str(len(response.content)).encode()))  # type: ignore[attr-defined]
    return headers
