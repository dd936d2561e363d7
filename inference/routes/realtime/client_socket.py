"""The client's side of a session, over ASGI."""

from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from gateway.core.contract.errors import ApiError
from gateway.core.contract.headers import REQUEST_ID
from gateway.core.http.lean.sending import headers_of
from gateway.core.http.responses import error_response

Message = dict[str, Any]

DENIAL = "websocket.http.response"


class ClientGone(Exception):
    """The client has left, or does not read what it requested."""


class ClientSocket:
    """One WebSocket, from its handshake on."""

    def __init__(
        self,
        scope: dict[str, Any],
        receive: Callable[[], Awaitable[Message]],
        send: Callable[[Message], Awaitable[None]],
        request_id: str,
    ) -> None:
        self._can_deny = DENIAL in (scope.get("extensions") or {})
        self._receive = receive
        self._send = send
        self.request_id = request_id
        self.is_open = False

    async def accept(self, subprotocol: str | None, headers: Mapping[str, str]) -> None:
        """Accept the handshake. Raises ClientGone."""
        sent = [
            (name.lower().encode(), value.encode()) for name, value in {**headers, REQUEST_ID: self.request_id}.items()
        ]
        self.is_open = True
        await self._out({"type": "websocket.accept", "subprotocol": subprotocol, "headers": sent})

    async def refuse(self, error: ApiError) -> None:
        """Refuse the handshake, with an HTTP error if the server supports it (ASGI's denial response), otherwise with
        403."""
        if not self._can_deny:
            await self._out({"type": "websocket.close", "code": 4000})
            return
        response = error_response(error, self.request_id)
        response[REQUEST_ID] = self.request_id
        response["Cache-Control"] = "no-store"
        start = {"type": f"{DENIAL}.start", "status": response.status_code, "headers": headers_of(response)}
        await self._out(start)
        await self._out({"type": f"{DENIAL}.body", "body": response.content})

    async def receive(self) -> tuple[bytes, bool]:
        """Return the next frame, and whether it is binary. Raises ClientGone."""
        message = await self._receive()
        if message["type"] != "websocket.receive":
            self.is_open = False
            raise ClientGone
        text = message.get("text")
        return (message["bytes"], True) if text is None else (text.encode(), False)

    async def send(self, frame: bytes, *, is_binary: bool = False) -> None:
        """Send a frame, waiting while the client does not read, until the server gives up. Raises ClientGone."""
        await self._out({"type": "websocket.send", **({"bytes": frame} if is_binary else {"text": frame.decode()})})

    async def close(self, code: int, reason: str) -> None:
        """Close the socket if it is still open. Raises ClientGone."""
        if self.is_open:
            self.is_open = False
            await self._out({"type": "websocket.close", "code": code, "reason": reason})

    async def _out(self, message: Message) -> None:
        try:
            await self._send(message)
        except (OSError, RuntimeError) as error:
            self.is_open = False
            raise ClientGone from error
