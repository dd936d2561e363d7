"""Looks at TCP ports of this machine."""

import socket


def free_port(host: str = "127.0.0.1") -> int:
    """Return a port that nobody listens on at the moment; another process may still take it first."""
    with _listener() as listener:
        listener.bind((host, 0))
        return int(listener.getsockname()[1])


def is_free(host: str, port: int) -> bool:
    """Tell whether this process could listen on `host:port` now."""
    return bind_failure(host, port) is None


def bind_failure(host: str, port: int) -> OSError | None:
    """Return why `host:port` cannot be listened on, or None when it can."""
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        with _listener(family, kind, protocol) as listener:
            listener.bind(address)
    except OSError as error:
        return error
    return None


def _listener(family: int = socket.AF_INET, kind: int = socket.SOCK_STREAM, protocol: int = 0) -> socket.socket:
    """Return an unbound socket that may take over a port whose last connections still linger."""
    listener = socket.socket(family, kind, protocol)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    return listener
