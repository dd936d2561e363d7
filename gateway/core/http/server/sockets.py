"""WebSockets based on uvicorn's protocol, with limits on the resources that a client can hold: `--ws
gateway.server.sockets:BoundedSocket`.

Messages are read as the application takes them, a KiB at a time. This module limits everything else: bytes before the
handshake's response, fragments, and pings whose pongs are not read. Messages are not compressed: a compressor takes
memory for each connection, and a small message could become a large one.
"""

import logging
from typing import Any

from websockets.frames import CloseCode, Frame
from websockets.server import ServerProtocol

from gateway.core.contract.limits import HEAD_MAX_BYTES, SOCKET_FRAGMENTS_MAX, SOCKET_MESSAGE_MAX_BYTES
from gateway.core.http.draining import drain_of_loop
from gateway.core.http.server.uvicorn_internals import SocketProtocol

UNSENT_MAX_BYTES = 2 * SOCKET_MESSAGE_MAX_BYTES
"""More than an application's message and the system's buffers: only pongs can add up to it."""

LINGER_SECONDS = 2.0

SLICE_BYTES = 1024
FRAMES_PER_TURN = 256
"""The frames parsed at a time per connection. A packet of 256 KB can have forty thousand, which take a quarter of a
second."""

_log = logging.getLogger("gateway.core.http.server.sockets")
# At lower levels the library logs whole handshakes, and a browser's contain its credentials.
_log.setLevel(logging.WARNING)


class BoundedSocket(SocketProtocol):
    """One connection."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.conn = ServerProtocol(max_size=SOCKET_MESSAGE_MAX_BYTES, logger=_log)
        self._early_bytes = 0
        self._is_refused = False
        self._unparsed = bytearray()
        self._frames = 0

    def shutdown(self) -> None:
        """Leave a draining server's session to the application, which ends it in time."""
        if self.close_sent or not drain_of_loop().has_begun:
            super().shutdown()

    def data_received(self, data: bytes) -> None:
        """Parse what arrived, or disconnect a client that does not wait for the handshake's response."""
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
        """Return the next message, and parse what follows it while the application processes it."""
        message = await self.queue.get()
        if self.queue.empty():
            self.loop.call_soon(self._parse)
        return message

    def _parse(self) -> None:
        """Parse received data until there is a message to take, or other connections need a turn; resume reading once
        all of it is parsed."""
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
        """Return whether there is no message to take; data after a close frame is discarded."""
        return not self.transport.is_closing() and (self.close_sent or self.queue.empty())

    def _read(self, reads: bool) -> None:
        if reads and self.read_paused:
            self.transport.resume_reading()
        elif not reads and not self.read_paused:
            self.transport.pause_reading()
        self.read_paused = not reads

    def handle_events(self) -> None:
        """Count the frames of a slice, and handle them."""
        self._frames += self.parsed_frames
        super().handle_events()

    def handle_cont(self, event: Frame) -> None:
        """Accept a fragment, unless there are too many: empty ones have no size to limit."""
        if len(self.frames) >= SOCKET_FRAGMENTS_MAX:
            self.conn.fail(CloseCode.MESSAGE_TOO_BIG, "too many fragments")
            self.handle_parser_exception()
            return
        super().handle_cont(event)

    def handle_parser_exception(self) -> None:
        """Send the reason for closing, and keep reading for a moment: closing with unread bytes causes a reset, which
        can overtake the close frame."""
        assert self.conn.close_sent is not None
        code, reason = self.conn.close_sent.code, self.conn.close_sent.reason
        self.queue.put_nowait({"type": "websocket.disconnect", "code": code, "reason": reason})
        self.transport.write(b"".join(self.conn.data_to_send()))
        self._is_refused = self.close_sent = True
        self._unparsed.clear()
        self.close_timer = self.loop.call_later(LINGER_SECONDS, self.transport.close)

    def handle_ping(self) -> None:
        """Respond to a ping, unless the client does not read the pongs."""
        super().handle_ping()
        if self.transport.get_write_buffer_size() > UNSENT_MAX_BYTES:
            self.transport.abort()
