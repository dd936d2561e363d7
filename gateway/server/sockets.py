"""`--ws gateway.server.sockets:BoundedSocket`: the name of the WebSocket protocol on a server's command line."""

from gateway.core.http.server.sockets import BoundedSocket

__all__ = ["BoundedSocket"]
