"""Sends responses over ASGI."""

from collections.abc import Awaitable, Callable, Sequence
from functools import lru_cache
from typing import Any

from django.http.response import HttpResponse

from gateway.core.contract.asgi import CUT
from gateway.core.http.lean.answers import LeanAnswer, LeanResponse
from gateway.core.http.lean.bodies import Receive
from gateway.core.http.lean.streams import LeanStreamingResponse

Send = Callable[[dict[str, Any]], Awaitable[None]]

Headers = Sequence[tuple[bytes, bytes]]
"""Headers in ASGI's form: names in lower case."""


async def send_response(send: Send, response: LeanAnswer, defaults: Headers = ()) -> None:
    """Send a complete response or a stream, with the default headers that it does not set itself. If the client does
    not read it, the server drops the connection. Raises Incomplete as the stream does."""
    headers = headers_of(response)
    names = {name for name, _ in headers}
    headers += [header for header in defaults if header[0] not in names]
    start = {"type": "http.response.start", "status": response.status_code, "headers": headers}
    if isinstance(response, LeanStreamingResponse):
        await _send_stream(send, start, response)
        return
    await send(start)
    await send({"type": "http.response.body", "body": _body_of(response)})


async def cut(scope: dict[str, Any], receive: Receive) -> None:
    """Close the connection of an incomplete response: without the last chunk, no client takes it for complete.

    A server without the extension closes it anyway, because its application returned too early.
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
        # A source that waits for its consumer notices the client's disconnect only by being closed.
        await response.chunks.aclose()


def headers_of(response: LeanAnswer) -> list[tuple[bytes, bytes]]:
    """Return a response's headers in ASGI's form, with the length of a complete body."""
    if isinstance(response, LeanResponse):
        plain = _plain_headers(response)
        return headers_of(response.to_django()) if plain is None else plain
    headers = [(name.lower().encode("latin-1"), value.encode("latin-1")) for name, value in response.items()]
    if not response.streaming and "Content-Length" not in response:
        headers.append((b"content-length", str(len(response.content)).encode()))  # type: ignore[attr-defined]
    return headers


def _plain_headers(response: LeanResponse) -> list[tuple[bytes, bytes]] | None:
    """Encode the headers; None if one needs Django's encoding, or has to be refused by it."""
    values = "".join(response.headers.values())
    if not (values.isascii() and values.isprintable()):
        return None
    headers = [(_wire_name(name), value.encode("ascii")) for name, value in response.headers.items()]
    return [*headers, (b"content-length", b"%d" % len(response.body))]


def _body_of(response: LeanAnswer) -> bytes:
    if isinstance(response, LeanResponse):
        return response.body
    assert isinstance(response, HttpResponse)
    return response.content


@lru_cache(maxsize=256)
def _wire_name(name: str) -> bytes:
    return name.lower().encode("ascii")
