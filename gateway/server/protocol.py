"""HTTP/1.1 as uvicorn speaks it, with a limit on whatever a client could hold: `--http
gateway.server.protocol:Bounded`.

A request that runs is the application's: it reads the body within limits of its own, and may take as long as a model
does. What happens outside of it is bounded here: connections, heads, trailers, silence, and answers that nobody reads.
"""

import asyncio
import socket
import struct
from typing import Any

from django.conf import settings
from httptools import HttpParserError
from uvicorn.protocols.http.httptools_impl import STATUS_LINE, HttpToolsProtocol, RequestResponseCycle

from gateway.core.api.lean.sending import CUT
from gateway.core.contract.limits import HEAD_MAX_BYTES, HEADERS_MAX, PIPELINED_REQUESTS_MAX
from gateway.server.answer_writer import AnswerWriter
from gateway.server.heads import is_plain
from gateway.server.watch import watch_of

WRITE_PROGRESS_BYTES = 16 * 1024
UNSENT_BYTES = 64 * 1024
RESET_ON_CLOSE = struct.pack("ii", 1, 0)


class Bounded(HttpToolsProtocol):
    """One connection."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.timeout_keep_alive = settings.KEEP_ALIVE_SECONDS
        self._watch = watch_of(self.server_state)
        self._since = self._unread_since = self.loop.time()
        self._unread_bytes = 0
        self._undigested_bytes = 0
        self._is_in_message = False
        self._is_too_large = False
        self._is_handed_over = False
        self._running: RequestResponseCycle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Take the connection, or refuse it where there are too many."""
        super().connection_made(transport)
        _bound_unsent(transport)
        if status := self._watch.refusal(self):
            self._refuse(status)
        self._watch.add(self)

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget the connection, and notify the running request, even if later ones wait behind it."""
        self._watch.remove(self)
        if self._running is not None and not self._running.response_complete:
            self._running.disconnected = True
            self._running.message_event.set()
        super().connection_lost(exc)

    def handle_websocket_upgrade(self) -> None:
        """Pass the connection to the WebSocket protocol.

        If that protocol cannot read the handshake, it waits in silence, so the connection stays watched. After the
        answer, it is watched for data that the client does not read.
        """
        self._is_handed_over = True
        self._since = self.loop.time()
        super().handle_websocket_upgrade()

    def data_received(self, data: bytes) -> None:
        """Parse what arrived. Bytes that are neither body nor a complete head must not pile up."""
        self._undigested_bytes += len(data)
        super().data_received(data)
        if self._undigested_bytes > HEAD_MAX_BYTES and not self.transport.is_closing():
            self._is_too_large = True
            self.send_400_response("")

    def on_message_begin(self) -> None:
        """Begin a request, unless too many wait before it."""
        if len(self.pipeline) >= PIPELINED_REQUESTS_MAX:
            raise HttpParserError("too many pipelined requests")
        self._is_in_message = True
        self._since = self.loop.time()
        super().on_message_begin()

    def on_headers_complete(self) -> None:
        """Start the request, or refuse its head. Later trailers are no headers of it."""
        if len(self.headers) > HEADERS_MAX or self._undigested_bytes > HEAD_MAX_BYTES < self._head_bytes():
            self._is_too_large = True
            raise HttpParserError("the request head is too large")
        if not is_plain(self.parser.get_method(), self.parser.get_http_version(), self.headers):
            raise HttpParserError("the request head is ambiguous")
        if self._is_handshake() and self._is_busy():
            raise HttpParserError("a handshake that follows an unanswered request")
        self._undigested_bytes = 0
        super().on_headers_complete()
        self.scope["headers"] = self.headers.copy()
        if not self._is_handshake():
            writer = AnswerWriter(self.transport, self.loop)
            self.scope["extensions"] = {CUT: writer.close}  # type: ignore[dict-item]
            self.cycle.transport = writer  # type: ignore[assignment]
            if self.parser.should_upgrade():
                self.cycle.keep_alive = False  # what follows such a head is not parsed as requests any more

    def on_body(self, body: bytes) -> None:
        """Take a piece of the body; its chunk's head and extensions are digested with it."""
        self._undigested_bytes = 0
        super().on_body(body)

    def on_message_complete(self) -> None:
        """End the request's own part."""
        self._undigested_bytes = 0
        self._is_in_message = False
        super().on_message_complete()

    def _start_asgi_task(self, cycle: RequestResponseCycle, app: Any) -> None:
        self._running = cycle
        super()._start_asgi_task(cycle, app)

    def on_response_complete(self) -> None:
        """Wait for the client's next request, or for the rest of a body that was not wanted."""
        self._since = self.loop.time()
        super().on_response_complete()

    def resume_writing(self) -> None:
        """Go on: the client has read most of what lay here."""
        self._unread_since = self.loop.time()
        super().resume_writing()

    def send_400_response(self, msg: str) -> None:
        """Refuse what cannot be parsed. If an answer is in progress, a second one would be taken for part of it."""
        if self._is_answer_under_way():
            self.transport.abort()
        elif self._is_too_large:
            self._refuse(431)
        else:
            super().send_400_response(msg)

    def end_if_overdue(self, now: float) -> None:
        """Close the connection where its client let time pass without doing its part."""
        if self._is_handed_over and self.transport.get_extra_info("socket").fileno() < 0:
            self._watch.remove(self)  # only the other protocol was told that the connection is gone
        elif self._waits_too_long(now) or self._is_unread_too_long(now):
            # With a reset, so that the system too forgets what the client has not read.
            self.transport.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET_ON_CLOSE)
            self.transport.abort()

    def _waits_too_long(self, now: float) -> bool:
        """Return whether the client owes a head, a body, or the end of a body that has been answered."""
        patience = settings.HEAD_SECONDS
        if self._is_handed_over:
            protocol = self.transport.get_protocol()
            return now - self._since > patience and not getattr(protocol, "handshake_initiated", False)
        if self.cycle is not None and not self.cycle.response_complete:
            if not self._is_in_message:
                return False
            # Whoever reads a body sees to it that it does not stop; this is for one that never begins.
            patience += settings.BODY_SECONDS + settings.LARGE_BODY_WAIT_SECONDS
        elif not self._is_in_message:
            patience = max(patience, self.timeout_keep_alive)
        return now - self._since > patience

    def _is_unread_too_long(self, now: float) -> bool:
        """Return whether an answer is buffered here and the client does not read it.

        Growth counts as progress: an answer that grows is paused soon, and from then on it can only shrink.
        """
        unread_bytes = self.transport.get_write_buffer_size()
        progress = self._unread_bytes - unread_bytes
        if unread_bytes == 0 or progress < 0 or progress >= WRITE_PROGRESS_BYTES:
            self._unread_bytes, self._unread_since = unread_bytes, now
        return now - self._unread_since > settings.WRITE_SECONDS

    def _is_answer_under_way(self) -> bool:
        """Return whether the request before what was just parsed is complete and unanswered, or answered in part."""
        cycle = self.cycle
        return bool(cycle) and not cycle.response_complete and (cycle.response_started or not cycle.more_body)

    def _is_handshake(self) -> bool:
        return bool(self.parser.should_upgrade() and self._should_upgrade())

    def _is_busy(self) -> bool:
        """Return whether a request before this one is unanswered. A handshake would be answered in its place."""
        return self.cycle is not None and not self.cycle.response_complete

    def _head_bytes(self) -> int:
        return len(self.url) + sum(len(name) + len(value) for name, value in self.headers)

    def _refuse(self, status: int) -> None:
        self.transport.write(STATUS_LINE[status] + b"content-length: 0\r\nconnection: close\r\n\r\n")
        self.transport.close()


def _bound_unsent(transport: asyncio.Transport) -> None:
    """Limit what the system buffers of an answer to little more than the client's window, and how long it keeps that.

    Otherwise it would take megabytes, unseen by this process, and keep them for minutes after the connection is closed
    (RFC 5482). The rest stays in this process. This process ends an open connection first, which notifies the client;
    the system would only drop it.
    """
    connection = transport.get_extra_info("socket")
    if connection.family == socket.AF_UNIX:
        return
    limits = {"TCP_NOTSENT_LOWAT": UNSENT_BYTES, "TCP_USER_TIMEOUT": int(settings.WRITE_SECONDS * 2000)}
    for name, limit in limits.items():
        if hasattr(socket, name):  # some systems lack one
            connection.setsockopt(socket.IPPROTO_TCP, getattr(socket, name), limit)
