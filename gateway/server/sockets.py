"""WebSockets as uvicorn speaks them, with a limit on whatever a client could hold: `--ws
gateway.server.sockets:BoundedSocket`.

Messages are read as the application takes them, a KiB at a time. This module limits everything else: bytes before the
handshake is answered, fragments, and pings whose answers nobody reads. Messages are not compressed: a compressor keeps
memory for each connection, and a small message could become a large one.
"""

import logging
from typing import Any

from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol
from websockets.frames import CloseCode, Frame
from websockets.server import ServerProtocol

from gateway.core.contract.limits import HEAD_MAX_BYTES, SOCKET_FRAGMENTS_MAX, SOCKET_MESSAGE_MAX_BYTES

UNSENT_MAX_BYTES = 2 * SOCKET_MESSAGE_MAX_BYTES
"""More than a message of the application and what the system holds: only answers to pings can add up to it."""

LINGER_SECONDS = 2.0

SLICE_BYTES = 1024
FRAMES_PER_TURN = 256
"""Of one connection. A packet of 256 KB can have forty thousand, which would take a quarter of a second."""

_log = logging.getLogger("gateway.server.sockets")
_log.setLevel(logging.WARNING)  # below that the library writes whole handshakes, and a browser's carry its credentials


class BoundedSocket(WebSocketsSansIOProtocol):
    """One connection."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.conn = ServerProtocol(max_size=SOCKET_MESSAGE_MAX_BYTES, logger=_log)
        self._early_bytes = 0
        self._is_refused = False
        self._unparsed = bytearray()
        self._frames = 0

    def data_received(self, data: bytes) -> None:
        """Parse what arrived, or hang up on a client that does not wait for the answer to its handshake."""
        if self._is_refused:
            return
        if not self.handshake_complete:
            self._early_bytes += len(data)
            if self._early_bytes > 2 * HEAD_MAX_BYTES:
                self.transport.abort()
                return
        self._unparsed += data
        self._parse()

    async def receive(self) -> Any:
        """Return the next message, and have what follows it parsed while the application works on it."""
        message = await self.queue.get()
        if self.queue.empty():
            self.loop.call_soon(self._parse)
        return message

    def _parse(self) -> None:
        """Parse what came, until there is a message to take, or others should have their turn; read on where all of it is
        parsed."""
        self._frames = 0
        while self._unparsed and self._wants_more() and self._frames < FRAMES_PER_TURN:
            piece = bytes(self._unparsed[:SLICE_BYTES])
            del self._unparsed[:SLICE_BYTES]
            super().data_received(piece)
        if self.transport.is_closing():
            return
        if self._unparsed and self._wants_more():
            self.loop.call_soon(self._parse)
        self._read(not self._unparsed and self._wants_more())

    def _wants_more(self) -> bool:
        """Return whether there is no message to take: whatever comes behind a close is only read to its end."""
        return not self.transport.is_closing() and (self.close_sent or self.queue.empty())

    def _read(self, reads: bool) -> None:
        if reads and self.read_paused:
            self.transport.resume_reading()
        elif not reads and not self.read_paused:
            self.transport.pause_reading()
        self.read_paused = not reads

    def handle_events(self) -> None:
        """Count the frames of a slice, and handle them."""
        self._frames += len(self.conn.events)
        super().handle_events()

    def handle_cont(self, event: Frame) -> None:
        """Take a fragment, unless there are too many: empty ones have no size that could be bounded."""
        if len(self.frames) >= SOCKET_FRAGMENTS_MAX:
            self.conn.fail(CloseCode.MESSAGE_TOO_BIG, "too many fragments")
            self.handle_parser_exception()
            return
        super().handle_cont(event)

    def handle_parser_exception(self) -> None:
        """Send why the connection ends, and read on for a moment: a close with bytes unread would be a reset, which can
        overtake the word."""
        assert self.conn.close_sent is not None
        code, reason = self.conn.close_sent.code, self.conn.close_sent.reason
        self.queue.put_nowait({"type": "websocket.disconnect", "code": code, "reason": reason})
        self.transport.write(b"".join(self.conn.data_to_send()))
        self._is_refused = self.close_sent = True
        self._unparsed.clear()
        self.close_timer = self.loop.call_later(LINGER_SECONDS, self.transport.close)

    def handle_ping(self) -> None:
        """Answer a ping, unless the client reads no answers."""
        super().handle_ping()
        if self.transport.get_write_buffer_size() > UNSENT_MAX_BYTES:
            self.transport.abort()
