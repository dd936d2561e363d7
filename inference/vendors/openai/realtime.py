"""Realtime sessions at upstreams with the adapter `realtime`: the vendor's WebSocket, `<base_url>/realtime?model=…`."""

import asyncio
from collections.abc import AsyncIterator

import aiohttp
from django.conf import settings

from gateway.core.contract.errors import ModelUnavailable, UpstreamError
from gateway.core.contract.limits import SOCKET_MESSAGE_MAX_BYTES
from gateway.core.outbound.sockets import HandshakeRefusedError, socket_session
from gateway.core.outbound.timeouts import socket_timeout
from inference.adapters import errors
from inference.adapters.errors import broken_by, outcome_of_exception
from inference.adapters.exchange import Refusal, credentials, refusal_of, url_of
from inference.interface.answer import Chunk
from inference.interface.upstream import (
    Ambiguous,
    Attempt,
    Endpoint,
    Outcome,
    Rejected,
    Stream,
    StreamBroken,
    Unreachable,
)
from inference.routes.realtime.bound import BoundedSession
from inference.routes.realtime.stream import BinaryChunk, SessionStream

_TYPES = {aiohttp.WSMsgType.TEXT, aiohttp.WSMsgType.BINARY}


class UpstreamSocket(SessionStream):
    """A session at an upstream. The call counts as not sent until the first frame is sent."""

    def __init__(self, attempt: Attempt[BoundedSession], socket: aiohttp.ClientWebSocketResponse[bool]) -> None:
        self._attempt = attempt
        self._socket = socket
        self._has_sent = False

    async def __aiter__(self) -> AsyncIterator[Chunk]:
        while True:
            message = await self._socket.receive()
            if message.type not in _TYPES:
                self.ended(whole=False)
                raise self._broken(f"the upstream's socket ended: {message.type.name} {self._socket.close_code}")
            is_text = message.type is aiohttp.WSMsgType.TEXT
            yield Chunk(message.data) if is_text else BinaryChunk(message.data)

    async def send(self, frame: bytes, *, is_binary: bool = False) -> None:
        if not self._has_sent:  # once: it must not overwrite what the journal has recorded since
            self._has_sent = True
            self._attempt.call.on_send()
        kind = aiohttp.WSMsgType.BINARY if is_binary else aiohttp.WSMsgType.TEXT
        try:
            async with asyncio.timeout(settings.WRITE_SECONDS):
                await self._socket.send_frame(frame, kind)
        except Exception as error:
            raise broken_by(self._attempt, error) from error

    async def close(self) -> None:
        self.on_end = None
        await self._socket.close()

    def _broken(self, cause: str) -> StreamBroken:
        return StreamBroken(UpstreamError(private=cause), "lost")


class RealtimeEndpoint(Endpoint[BoundedSession]):
    """Sessions at upstreams with the vendor's protocol."""

    async def send(self, attempt: Attempt[BoundedSession]) -> Outcome:
        """Refuse: a session has no complete response."""
        return Rejected(ModelUnavailable(private="a session was sent as a call"))

    async def open_stream(self, attempt: Attempt[BoundedSession]) -> Stream | Outcome:
        """Open the WebSocket. Nothing has been requested yet, so a failure can have cost nothing."""
        try:
            return UpstreamSocket(attempt, await _connect(attempt))
        except HandshakeRefusedError as refused:
            return errors.outcome_of(attempt, refusal_of(refused.status, refused.headers, refused.body))
        except aiohttp.WSServerHandshakeError as error:  # a 101 that is invalid
            return errors.outcome_of(attempt, Refusal(error.status, error.headers or {}, {}))
        except Exception as error:  # noqa: BLE001 - whatever failed, no session was opened
            outcome = outcome_of_exception(attempt, error)
            if isinstance(outcome, Ambiguous):
                return Unreachable(outcome.reason, is_late=isinstance(error, TimeoutError))
            return outcome


async def _connect(attempt: Attempt[BoundedSession]) -> aiohttp.ClientWebSocketResponse[bool]:
    url = url_of(attempt.target, "/realtime").update_query(model=attempt.upstream_model)
    headers = {"X-Client-Request-Id": attempt.call.usage_id, **credentials(attempt.target)}
    async with asyncio.timeout(attempt.target.timeout_seconds):
        return await socket_session().ws_connect(
            url,
            headers=headers,
            heartbeat=settings.SOCKET_PING_SECONDS,
            max_msg_size=SOCKET_MESSAGE_MAX_BYTES,
            timeout=socket_timeout(),
            decode_text=False,
        )
