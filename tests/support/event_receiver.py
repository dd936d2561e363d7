"""A product's server that receives events, and answers as a test wants."""

import json
import socket
import ssl
import threading
from collections.abc import Callable
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self

SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
"""The secret of the specification's examples."""


@dataclass(frozen=True)
class Received:
    """A request: the address that it came from, its headers in lower case, and its body as it was sent."""

    peer: tuple[str, int]
    path: str
    headers: dict[str, str]
    body: bytes

    @property
    def event(self) -> dict[str, Any]:
        """Return the event in the body."""
        return dict(json.loads(self.body))


Reply = int | tuple[int, bytes] | Callable[[socket.socket], None]
"""A status, with a body, or what writes an answer itself and then ends the connection."""


class EventReceiver:
    """Serves on loopback until the context ends; `received` has the requests in the order of their arrival.

    `reply` decides about each answer, 204 unless a test replaces it.
    """

    def __init__(self, tls: ssl.SSLContext | None = None) -> None:
        self.received: list[Received] = []
        self.reply: Callable[[Received], Reply] = lambda received: 204
        self.closing = threading.Event()
        self._server = _Server(("127.0.0.1", 0), self._handler())
        if tls:
            self._server.socket = tls.wrap_socket(self._server.socket, server_side=True, do_handshake_on_connect=False)

    @property
    def port(self) -> int:
        """Return the port."""
        return int(self._server.server_address[1])

    @property
    def url(self) -> str:
        """Return the address that events are sent to."""
        return f"http://127.0.0.1:{self.port}/hooks"

    @property
    def events(self) -> list[dict[str, Any]]:
        """Return the events that arrived."""
        return [received.event for received in list(self.received)]

    def __enter__(self) -> Self:
        threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True).start()
        return self

    def __exit__(self, *exc: object) -> None:
        self.closing.set()
        self._server.shutdown()
        self._server.server_close()

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        receiver = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                headers = {name.lower(): value for name, value in self.headers.items()}
                received = Received(self.client_address, self.path, headers, body)
                receiver.received.append(received)
                self._answer(receiver.reply(received))

            def _answer(self, reply: Reply) -> None:
                if callable(reply):
                    self.close_connection = True
                    reply(self.connection)
                    return
                status, body = reply if isinstance(reply, tuple) else (reply, b"")
                self.send_response(status)
                if status != 204:
                    self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *args: Any) -> None:
                """Print nothing."""

        return Handler


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Log nothing about a client that has left."""
