"""The socket that the server is handed."""

import socket

import pytest

from gateway.run.errors import StartError
from gateway.run.ports import free_port, listen


def test_connections_never_wait_to_fill_a_packet() -> None:
    with listen("127.0.0.1", free_port()) as [listener], socket.create_connection(listener.getsockname()):
        accepted, _ = listener.accept()
        with accepted:
            assert accepted.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)


def test_localhost_is_listened_on_at_both_its_addresses() -> None:
    port = free_port()
    with listen("localhost", port) as listeners:
        assert [listener.getsockname()[:2] for listener in listeners] == [("127.0.0.1", port), ("::1", port)]
        for listener in listeners:
            socket.create_connection(listener.getsockname()[:2]).close()


def test_an_address_of_localhost_that_is_taken_is_named() -> None:
    port = free_port()
    taken = socket.create_server(("::1", port), family=socket.AF_INET6)
    with taken, pytest.raises(StartError) as refused, listen("localhost", port):
        pass
    assert str(refused.value) == f"Cannot listen on ::1:{port}: Address already in use; set another PORT or HOST."


def test_localhost_is_enough_without_ipv6(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gateway.run.ports.has_ipv6_loopback", lambda: False)
    with listen("localhost", free_port()) as listeners:
        assert [listener.family for listener in listeners] == [socket.AF_INET]
