"""A TCP proxy to the database that a test can interrupt, in a thread."""

import contextlib
import selectors
import socket
import threading
from typing import Self

PIECE_BYTES = 65536


class UnreliableWay:
    """Forwards connections from its own port to a server, until it is told to cut connections or to drop responses.

    While cut, connections are closed and new ones refused at once. While `swallowing`, the server's data is dropped.
    """

    def __init__(self, host: str, port: int) -> None:
        self._server = (host, port)
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._pairs: list[tuple[socket.socket, socket.socket]] = []
        self._lock = threading.Lock()
        self._is_cut = threading.Event()
        self.swallowing = False
        threading.Thread(target=self._accept, daemon=True).start()

    @property
    def port(self) -> int:
        """Return the port to connect to."""
        return int(self._listener.getsockname()[1])

    def cut(self) -> None:
        """Close all current and future connections."""
        with self._lock:
            self._is_cut.set()
            for pair in self._pairs:
                self._hang_up(pair)
            self._pairs.clear()

    def mend(self) -> None:
        """Accept connections again."""
        self._is_cut.clear()
        self.swallowing = False

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc: object) -> None:
        self.cut()
        self._listener.close()

    def _accept(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                client, _ = self._listener.accept()
                if self._is_cut.is_set():
                    client.close()
                    continue
                pair = client, socket.create_connection(self._server)
                with self._lock:
                    if self._is_cut.is_set():  # since it was accepted
                        self._hang_up(pair)
                        continue
                    self._pairs.append(pair)
                threading.Thread(target=self._forward, args=(pair,), daemon=True).start()

    def _forward(self, pair: tuple[socket.socket, socket.socket]) -> None:
        client, server = pair
        with selectors.DefaultSelector() as selector, contextlib.suppress(OSError, ValueError):
            selector.register(client, selectors.EVENT_READ, server)
            selector.register(server, selectors.EVENT_READ, client)
            while self._pass_on(selector):
                pass
        self._hang_up(pair)

    def _pass_on(self, selector: selectors.BaseSelector) -> bool:
        for key, _ in selector.select(timeout=1):
            source: socket.socket = key.fileobj  # type: ignore[assignment]
            data = source.recv(PIECE_BYTES)
            if not data:
                return False
            if not (self.swallowing and key.data.getpeername() != self._server):
                key.data.sendall(data)
        return True

    def _hang_up(self, pair: tuple[socket.socket, socket.socket]) -> None:
        for end in pair:
            with contextlib.suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)
            end.close()
