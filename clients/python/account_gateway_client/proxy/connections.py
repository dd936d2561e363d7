"""One connection of a tool: uvicorn's protocol over h11, with a time limit for the head of a request."""

import asyncio
import logging
from typing import Any

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

HEAD_SECONDS = 30.0
MAX_HEAD_BYTES = 64 * 2**10

# Says nothing: what breaks is told to the tool, and a tool that fills the terminal must not be disturbed.
_silent = logging.getLogger("account_gateway_client.proxy")
_silent.addHandler(logging.NullHandler())
_silent.propagate = False


class ToolConnection(H11Protocol):
    """Closes the connection of a peer that begins a request and does not come to its end, or begins none."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self.logger = _silent
        self._head_timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._await_head()

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        if self.conn.their_state is h11.IDLE:
            self._await_head()
        elif self._head_timer:
            self._head_timer.cancel()
            self._head_timer = None

    def connection_lost(self, exc: Exception | None) -> None:
        if self._head_timer:
            self._head_timer.cancel()
        super().connection_lost(exc)

    def _await_head(self) -> None:
        """Start the clock, unless it runs: a byte now and then does not stop it."""
        if self._head_timer is None:
            self._head_timer = self.loop.call_later(HEAD_SECONDS, self._give_up)

    def _give_up(self) -> None:
        if self.conn.their_state is h11.IDLE and not self.transport.is_closing():
            self.transport.close()
