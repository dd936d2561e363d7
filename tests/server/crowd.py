"""Raw connections that never do their part, by the thousand."""

import select
import socket
from collections.abc import Iterable, Iterator
from contextlib import contextmanager

from tests.support.concurrency import PATIENCE_SECONDS

RECEIVE_BUFFER_BYTES = 4096
ENDED = select.POLLRDHUP | select.POLLHUP | select.POLLERR


def connect(origin: str, buffer_bytes: int = RECEIVE_BUFFER_BYTES) -> socket.socket:
    """Open a connection whose own buffer holds little, so that what its client does not read stays with the gateway."""
    host, port = origin.removeprefix("http://").split(":")
    connection = socket.socket()
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, buffer_bytes)
    connection.settimeout(PATIENCE_SECONDS)
    connection.connect((host, int(port)))
    return connection


@contextmanager
def crowd(origin: str, openings: Iterable[bytes]) -> Iterator[list[socket.socket]]:
    """Open a connection for each opening and send it; then nobody says anything more."""
    connections: list[socket.socket] = []
    try:
        for opening in openings:
            connections.append(connect(origin))
            connections[-1].sendall(opening)
        yield connections
    finally:
        for connection in connections:
            connection.close()


def count_open(connections: Iterable[socket.socket]) -> int:
    """Count the connections that the gateway has not ended, without reading what it has sent."""
    poll = select.poll()
    numbers = [connection.fileno() for connection in connections]
    for number in numbers:
        poll.register(number, ENDED)
    return len(numbers) - len(poll.poll(0))


def read_to_the_end(connection: socket.socket) -> bytes:
    """Return what comes until the gateway ends the connection."""
    received = b""
    try:
        while piece := connection.recv(65536):
            received += piece
    except ConnectionResetError:
        pass
    return received
