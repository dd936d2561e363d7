"""Sends Django's response objects over ASGI."""

from collections.abc import Awaitable, Callable
from typing import Any

from django.http.response import HttpResponse, HttpResponseBase

from gateway.core.api.lean.streams import StreamedResponse

Send = Callable[[dict[str, Any]], Awaitable[None]]


async def send_response(send: Send, response: HttpResponseBase) -> None:
    """Send a whole answer or a stream. If the client does not read it, the server drops the connection."""
    start = {"type": "http.response.start", "status": response.status_code, "headers": headers_of(response)}
    if isinstance(response, StreamedResponse):
        await _send_stream(send, start, response)
        return
    assert isinstance(response, HttpResponse)
    await send(start)
    await send({"type": "http.response.body", "body": response.content})


async def _send_stream(send: Send, start: dict[str, Any], response: StreamedResponse) -> None:
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
