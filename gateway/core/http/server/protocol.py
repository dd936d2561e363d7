"""HTTP/1.1 based on uvicorn's protocol, with limits on the resources that a client can hold: `--http
gateway.server.protocol:Bounded`.

The application controls a running request: it reads the body within limits of its own, and may take as long as a model
does. This module limits everything else: connections, heads, trailers, idle time, and responses that are not read.
"""

import asyncio
import socket
import struct
from typing import Any

from django.conf import settings
from httptools import HttpParserError

from gateway.core.contract.asgi import CUT
from gateway.core.contract.limits import HEAD_MAX_BYTES, HEADERS_MAX, PIPELINED_REQUESTS_MAX
from gateway.core.http.draining import drain_of_loop
from gateway.core.http.server.answer_writer import AnswerWriter
from gateway.core.http.server.heads import is_plain
from gateway.core.http.server.uvicorn_internals import HttpProtocol, is_waiting_for_handshake, status_line
from gateway.core.http.server.watch import watch_of

WRITE_PROGRESS_BYTES = 16 * 1024
UNSENT_BYTES = 64 * 1024
RESET_ON_CLOSE = struct.pack("ii", 1, 0)


class Bounded(HttpProtocol):
    """One connection."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.timeout_keep_alive = settings.KEEP_ALIVE_SECONDS  # type: ignore[assignment] # the loop takes fractions
        self._watch = watch_of(self.server_state)
        self._drain = drain_of_loop()
        self._since = self._unread_since = self.loop.time()
        self._unread_bytes = 0
        self._undigested_bytes = 0
        self._is_in_message = False
        self._has_body_begun = False
        self._is_too_large = False
        self._is_handed_over = False

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Accept the connection, or refuse it if there are too many."""
        super().connection_made(transport)
        _bound_unsent(transport)
        if status := self._watch.refusal(self):
            self._refuse(status)
        elif self._drain.is_port_closed:
            self.shutdown()
        self._watch.add(self)

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget the connection, and notify the running request, even if later ones are queued."""
        self._watch.remove(self)
        self.disconnect_running()
        super().connection_lost(exc)

    def handle_websocket_upgrade(self) -> None:
        """Pass the connection to the WebSocket protocol.

        If that protocol cannot parse the handshake, it waits silently, so the connection stays watched. After the
        response, it is watched for data that the client does not read.
        """
        self._is_handed_over = True
        self._since = self.loop.time()
        super().handle_websocket_upgrade()

    def data_received(self, data: bytes) -> None:
        """Parse what arrived. Bytes that belong to neither a body nor a complete head must not accumulate."""
        self._undigested_bytes += len(data)
        super().data_received(data)
        if self._undigested_bytes > HEAD_MAX_BYTES and not self.transport.is_closing():
            self._is_too_large = True
            self.send_400_response("")

    def on_message_begin(self) -> None:
        """Start a request, unless too many are queued."""
        if self.queued_requests >= PIPELINED_REQUESTS_MAX:
            raise HttpParserError("too many pipelined requests")
        self._is_in_message = True
        self._has_body_begun = False
        self._since = self.loop.time()
        super().on_message_begin()

    def on_headers_complete(self) -> None:
        """Start the request, or refuse its head. Trailers that follow are not its headers."""
        if len(self.headers) > HEADERS_MAX or self._undigested_bytes > HEAD_MAX_BYTES < self._head_bytes():
            self._is_too_large = True
            raise HttpParserError("the request head is too large")
        if not is_plain(self.parser.get_method(), self.parser.get_http_version(), self.headers):
            raise HttpParserError("the request head is ambiguous")
        if self.is_handshake and self.is_busy:
            # Its response would take the place of the other one.
            raise HttpParserError("a handshake that follows an unanswered request")
        self._undigested_bytes = 0
        super().on_headers_complete()
        if self._drain.has_begun and not self.is_handshake:  # which has no answer of this protocol
            self.end_after_answer()
        self.scope["headers"] = self.headers.copy()
        if not self.is_handshake:
            writer = AnswerWriter(self.transport, self.loop)
            self.scope["extensions"] = {CUT: writer.close}
            self.answer_through(writer)
            if self.parser.should_upgrade():
                self.end_after_answer()  # after such a head, no more requests are parsed

    def on_body(self, body: bytes) -> None:
        """Receive a piece of the body; the head and extensions of its chunk have been parsed with it."""
        self._undigested_bytes = 0
        self._has_body_begun = True
        super().on_body(body)

    def on_message_complete(self) -> None:
        """Finish receiving the request."""
        self._undigested_bytes = 0
        self._is_in_message = False
        super().on_message_complete()

    def on_response_complete(self) -> None:
        """Wait for the client's next request, or for the rest of a body that was not read."""
        self._since = self.loop.time()
        super().on_response_complete()

    def shutdown(self) -> None:
        """Close the connection. One without a request lingers: the client may have sent one that was not read yet."""
        if self.is_busy or not self._drain.linger_seconds:
            super().shutdown()
        else:
            self.loop.call_later(self._drain.linger_seconds, self._end_if_idle)

    def resume_writing(self) -> None:
        """Resume writing: the client has read most of the buffered data."""
        self._unread_since = self.loop.time()
        super().resume_writing()

    def send_400_response(self, msg: str) -> None:
        """Refuse unparseable data. During a response, a second one would be mistaken for a part of it."""
        if self._is_answer_under_way():
            self.transport.abort()
        elif self._is_too_large:
            self._refuse(431)
        else:
            super().send_400_response(msg)

    def end_if_overdue(self, now: float) -> None:
        """Close the connection if its client has let a time limit pass."""
        if self._is_handed_over and self.transport.get_extra_info("socket").fileno() < 0:
            self._watch.remove(self)  # only the other protocol is notified that the connection is lost
        elif self._waits_too_long(now) or self._is_unread_too_long(now):
            # With a reset, so that the system also drops the data that the client has not read.
            self.transport.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET_ON_CLOSE)
            self.transport.abort()

    def _end_if_idle(self) -> None:
        if not (self.is_busy or self._is_in_message):
            self.transport.close()

    def _waits_too_long(self, now: float) -> bool:
        """Return whether the client owes a head, a body, or the end of a body that was already responded to."""
        patience = settings.HEAD_SECONDS
        if self._is_handed_over:
            return now - self._since > patience and is_waiting_for_handshake(self.transport)
        if self.is_busy:
            if not self._is_in_message:
                return False
            patience += self._body_patience()
        elif not self._is_in_message:
            patience = max(patience, self.timeout_keep_alive)
        return now - self._since > patience

    def _body_patience(self) -> float:
        """Return how long the body of a request that is not responded to may take.

        Its reader limits the pauses of a body that has begun. A client that waits for 100 does not owe one yet.
        """
        if self._has_body_begun or self.owes_continue:
            return settings.BODY_SECONDS + settings.LARGE_BODY_WAIT_SECONDS
        return settings.BODY_IDLE_SECONDS

    def _is_unread_too_long(self, now: float) -> bool:
        """Return whether a response is buffered here and the client does not read it.

        Growth counts as progress: a growing response is soon paused, and from then on it can only shrink.
        """
        unread_bytes = self.transport.get_write_buffer_size()
        progress = self._unread_bytes - unread_bytes
        if unread_bytes == 0 or progress < 0 or progress >= WRITE_PROGRESS_BYTES:
            self._unread_bytes, self._unread_since = unread_bytes, now
        return now - self._unread_since > settings.WRITE_SECONDS

    def _is_answer_under_way(self) -> bool:
        """Return whether the request before the one just parsed is complete and not yet fully responded to."""
        return self.is_busy and (self.has_begun_answer or self.has_whole_body)

    def _head_bytes(self) -> int:
        return len(self.url) + sum(len(name) + len(value) for name, value in self.headers)

    def _refuse(self, status: int) -> None:
        self.transport.write(status_line(status) + b"content-length: 0\r\nconnection: close\r\n\r\n")
        self.transport.close()


def _bound_unsent(transport: asyncio.Transport) -> None:
    """Limit what the system buffers of a response to little more than the client's window, and for how long.

    Otherwise it would buffer megabytes, unseen by this process, and keep them for minutes after the connection is
    closed (RFC 5482). The rest stays in this process. This process closes an open connection first, which notifies the
    client; the system would only drop it.
    """
    connection = transport.get_extra_info("socket")
    if connection.family == socket.AF_UNIX:
        return
    limits = {"TCP_NOTSENT_LOWAT": UNSENT_BYTES, "TCP_USER_TIMEOUT": int(settings.WRITE_SECONDS * 2000)}
    for name, limit in limits.items():
        if hasattr(socket, name):  # some systems lack one
            connection.setsockopt(socket.IPPROTO_TCP, getattr(socket, name), limit)
