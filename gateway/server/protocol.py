"""`--http gateway.server.protocol:Bounded`: the name of the HTTP protocol on a server's command line."""

from gateway.core.http.server.protocol import Bounded

__all__ = ["Bounded"]
