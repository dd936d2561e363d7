"""Finds free TCP ports of this machine, and listens on one."""

import random
import socket
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

from gateway.run.errors import StartError

BACKLOG = 2048
LOCALHOST = "localhost"

LISTENER_PORTS = range(20_000, 32_768)
"""Below the ephemeral ports, so that no outgoing connection takes the port of a server that restarts."""


def free_port(host: str = "127.0.0.1") -> int:
    """Return a port that is free at the moment; another process may still take it first.

    Raises StartError if none is free.
    """
    for port in random.sample(LISTENER_PORTS, len(LISTENER_PORTS)):
        if is_free(host, port):
            return port
    raise StartError(f"No port from {LISTENER_PORTS[0]} to {LISTENER_PORTS[-1]} is free on {host}.")


def is_free(host: str, port: int) -> bool:
    """Return whether this process could listen on `host:port` now."""
    with socket.socket() as listener:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind((host, port))
            listener.listen()
        except OSError:
            return False
    return True


@contextmanager
def listen(host: str, port: int, setting: str = "") -> Iterator[list[socket.socket]]:
    """Listen on a port as long as the gateway runs: for `localhost`, on the loopback address of either IP version that this
    machine has. Raises StartError if it is taken, which says to change `setting`; HOST and PORT if there is none."""
    with ExitStack() as stack:
        hosts = [host]
        if host == LOCALHOST:
            hosts = ["127.0.0.1", "::1"] if has_ipv6_loopback() else ["127.0.0.1"]
        yield [stack.enter_context(_listener(each, port, setting)) for each in hosts]


def has_ipv6_loopback() -> bool:
    """Return whether a socket can be bound to ::1."""
    try:
        with socket.socket(socket.AF_INET6) as probe:
            probe.bind(("::1", 0))
    except OSError:
        return False
    return True


@contextmanager
def _listener(host: str, port: int, setting: str) -> Iterator[socket.socket]:
    """Listen on one address. Raises StartError if that is not possible."""
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
    except OSError as error:
        name = setting or f"HOST={host}"
        raise StartError(f"{name} is not an address of this machine: {error.strerror}.") from error
    family, kind, protocol, _, address = found[0]
    with socket.socket(family, kind, protocol) as listener:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        # Accepted connections inherit the option. Without it, the body of a response would wait 40 ms for the
        # acknowledgement of its headers.
        listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        try:
            listener.bind(address)
            listener.listen(BACKLOG)
        except OSError as error:
            message = f"Cannot listen on {host}:{port}: {error.strerror}; set another {setting or 'PORT or HOST'}."
            raise StartError(message) from error
        yield listener
