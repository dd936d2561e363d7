"""The socket that the server is handed."""

import socket

from gateway.run.ports import free_port, listen


def test_connections_never_wait_to_fill_a_packet() -> None:
    with listen("127.0.0.1", free_port()) as listener, socket.create_connection(listener.getsockname()):
        accepted, _ = listener.accept()
        with accepted:
            assert accepted.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)
