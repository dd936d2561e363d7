"""Sends HTTP requests to upstreams over pooled connections. No cookies, proxies, redirects or retries.

aiohttp opens and pools the connections and parses the responses. Its session is not used, because it spends most of a request's
time on what is not needed here (docs/decisions/0058).
"""

import asyncio
import io
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import TypedDict

import aiohttp
from django.conf import settings
from yarl import URL

from gateway.core.contract.values import value_class
from gateway.core.outbound.aiohttp_internals import BodyWriter, Connection, Handler, Pool, destination, handler_of
from gateway.core.outbound.distrust import Distrust, distrust, origin_of
from gateway.core.outbound.failures import Failure, MisconfiguredError, NotSentError, failure_of
from gateway.core.outbound.response import Response
from gateway.core.runtime.per_loop import PerLoop

USER_AGENT = "account-gateway"

KEEPALIVE_SECONDS = 4.0
"""Shorter than the 5 s after which uvicorn and Node close an idle connection. If a request is sent while the server
closes the connection, it is unknown whether the server took it; so the gateway closes first."""

_COPIED_BODY_MAX_BYTES = 1024 * 1024
"""A larger body is written in pieces, without a copy of it."""


class HeadLimits(TypedDict):
    """Limits on the head of a response, by aiohttp's names; sizes are bytes."""

    max_line_size: int
    max_field_size: int
    max_headers: int


HEAD_LIMITS: HeadLimits = {"max_line_size": 8 * 1024, "max_field_size": 16 * 1024, "max_headers": 128}


@value_class(frozen=True, slots=True)
class Body:
    """A request's body: bytes, or a payload, which is written in pieces."""

    media_type: str
    data: bytes | aiohttp.Payload


class Client:
    """The connections of one event loop."""

    def __init__(self, distrust: Distrust = distrust) -> None:
        self._distrust = distrust
        self._connector = _connector(distrust)
        self._destination = lru_cache(maxsize=256)(destination)

    async def send(
        self,
        method: str,
        url: URL,
        headers: Mapping[str, str],
        body: Body | None,
        phases: aiohttp.ClientTimeout,
        on_send: Callable[[], None] = lambda: None,
    ) -> Response:
        """Send a request and return its response once the head has arrived. The caller closes it.

        `on_send` is called right before the first byte is written. Raises as `gateway.core.outbound.failures` lists.
        """
        if self._distrust.is_any and self._distrust.covers(origin_of(url)):
            headers = {**headers, "Connection": "close"}
        head = render_head(method, url, headers, body)
        connection = await self._connect(url, phases)
        handler = handler_of(connection)
        handler.expect(phases.sock_read, HEAD_LIMITS)
        response = Response(connection, handler, phases.total)
        try:
            _write(handler, response, head, body.data if body else b"", on_send)
            await response.begin()
        except BaseException:
            response.close()
            raise
        return response

    async def close(self) -> None:
        """Close the connections."""
        await self._connector.close()

    async def _connect(self, url: URL, phases: aiohttp.ClientTimeout) -> Connection:
        """Take a connection from the pool, or open one. Raises NotSentError or aiohttp's error; either means that nothing was
        sent."""
        try:
            return await self._connector.take(self._destination(url), phases)
        except Exception as error:
            if failure_of(error) in (Failure.MISCONFIGURED, Failure.NOT_SENT):
                raise
            raise NotSentError(f"no connection to {url.host}: {error!r}") from error


def client() -> Client:
    """Return the running loop's client, made at its first use. Its owner calls `close_client` before the loop ends."""
    return _clients.get()


async def close_client() -> None:
    """Close the running loop's client and its connections. Safe to call twice, or without a client."""
    if (current := _clients.pop()) is not None:
        await current.close()


def render_head(method: str, url: URL, headers: Mapping[str, str], body: Body | None) -> bytes:
    """Render a request's head. Raises MisconfiguredError if a value is not printable ASCII: it could add a header."""
    fields = {"Host": url.host_port_subcomponent or "", "User-Agent": USER_AGENT, **headers}
    if body is not None:
        size_bytes = len(body.data) if isinstance(body.data, bytes) else body.data.size
        fields |= {"Content-Type": body.media_type, "Content-Length": str(size_bytes)}
    values = "".join(fields.values())
    if not (values.isascii() and values.isprintable()):
        raise MisconfiguredError("a header's value is not printable ASCII")
    lines = "".join([f"{name}: {value}\r\n" for name, value in fields.items()])
    return f"{method} {url.raw_path_qs} HTTP/1.1\r\n{lines}\r\n".encode("ascii")


def _write(
    handler: Handler, response: Response, head: bytes, data: bytes | aiohttp.Payload, on_send: Callable[[], None]
) -> None:
    transport = handler.transport
    if transport is None or transport.is_closing():
        raise NotSentError("the connection was closed before anything was sent")
    on_send()
    if isinstance(data, bytes) and len(data) <= _COPIED_BODY_MAX_BYTES:
        transport.write(head + data)
        handler.begin_silence()
    else:
        transport.write(head)
        payload = aiohttp.BytesIOPayload(io.BytesIO(data)) if isinstance(data, bytes) else data
        writer = BodyWriter(handler, payload)
        response.attach_writer(writer, asyncio.create_task(_write_payload(handler, writer)))


async def _write_payload(handler: Handler, writer: BodyWriter) -> None:
    """Write a body. An error fails the response that is awaited."""
    try:
        await writer.write()
        if writer.left_bytes:
            raise EOFError("the body is shorter than its length")
    except Exception as error:  # noqa: BLE001 - raised where the response is awaited
        handler.set_exception(aiohttp.ClientConnectionError("the request could not be written"), error)
    else:
        handler.begin_silence()


def _connector(distrust: Distrust) -> Pool:
    """Limit the pool. One host gets at most three quarters of it, so that a hanging host cannot starve the others.

    The event loop sets TCP_NODELAY on every connection.
    """
    most = settings.UPSTREAM_CONNECTIONS_MAX
    return Pool(
        distrust,
        limit=most,
        limit_per_host=max(1, most * 3 // 4),
        keepalive_timeout=KEEPALIVE_SECONDS,
        ttl_dns_cache=30,
    )


_clients = PerLoop(Client)
