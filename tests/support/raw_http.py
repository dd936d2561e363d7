"""Requests as they are written, for tests that send thousands: a client that does more takes longer than the server."""

import socket
from collections.abc import Mapping

import httptools
import httpx

from tests.support.concurrency import PATIENCE_SECONDS


class Connection:
    """A connection to a server of this machine, on which requests follow each other."""

    def __init__(self, port: int) -> None:
        self._port = port
        self._socket: socket.socket | None = None

    def close(self) -> None:
        """Hang up."""
        if self._socket:
            self._socket.close()
            self._socket = None

    def request(self, method: str, path: str, headers: Mapping[str, str], body: bytes = b"") -> "Answer":
        """Send one request, on a new connection if the server has hung up, as it may after it refused something."""
        headers = {"Host": f"127.0.0.1:{self._port}", "Content-Length": str(len(body)), **headers}
        lines = [f"{method} {path} HTTP/1.1", *(f"{name}: {value}" for name, value in headers.items()), "", ""]
        sent, is_new = "\r\n".join(lines).encode("latin-1") + body, self._socket is None
        try:
            return self._exchange(sent)
        except ConnectionError:
            self.close()
            if is_new:
                raise
            return self._exchange(sent)

    def _exchange(self, sent: bytes) -> "Answer":
        self._socket = self._socket or socket.create_connection(("127.0.0.1", self._port), PATIENCE_SECONDS)
        self._socket.sendall(sent)
        answer = Answer()
        answer.receive(self._socket)
        if not answer.keeps_connection:
            self.close()
        return answer


class Answer:
    """An answer to a request."""

    def __init__(self) -> None:
        self._parser = httptools.HttpResponseParser(self)
        self._headers: list[tuple[bytes, bytes]] = []
        self._body: list[bytes] = []
        self._has_head = self._is_complete = False

    @property
    def status(self) -> int:
        """Return the status code."""
        return int(self._parser.get_status_code())

    @property
    def whole(self) -> httpx.Response:
        """Return all of it."""
        return httpx.Response(self.status, headers=self._headers, content=b"".join(self._body))

    @property
    def keeps_connection(self) -> bool:
        """Return whether another request may follow."""
        return self._is_complete and bool(self._parser.should_keep_alive())

    def receive(self, connection: socket.socket) -> None:
        """Receive it to its end, which may be that of the connection. Raise ConnectionResetError if there is none."""
        while not self._is_complete:
            received = connection.recv(65536)
            if not received and not self._has_head:
                raise ConnectionResetError
            if not received:
                return
            self._parser.feed_data(received)

    def on_header(self, name: bytes, value: bytes) -> None:
        """Note it (the parser calls it)."""
        self._headers.append((name, value))

    def on_headers_complete(self) -> None:
        """Note it (the parser calls it)."""
        self._has_head = True

    def on_body(self, part: bytes) -> None:
        """Note it (the parser calls it)."""
        self._body.append(part)

    def on_message_complete(self) -> None:
        """Note it (the parser calls it)."""
        self._is_complete = True
