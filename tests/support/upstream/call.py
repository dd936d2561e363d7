"""One request in progress: its body, its behavior, and its ledger entry."""

import asyncio
import socket
import struct
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from aiohttp import web

from tests.support.upstream.behaviours import HOST, ORGANIZATION, Behaviour
from tests.support.upstream.ledger import Entry

HUGE_HEADER_BYTES = 64 * 1024
MANY_HEADERS = 500


class PeerLeft(Exception):
    """The caller closed its connection before the end of the response."""


@dataclass(slots=True)
class Call:
    """One request and its response."""

    request: web.Request
    body: Mapping[str, Any]
    behaviour: Behaviour
    entry: Entry
    gate: asyncio.Event
    """The event that responses wait for: JSON before its first byte, a stream after its first token."""

    @property
    def streaming(self) -> bool:
        """Return whether the response is a stream; a swapped one is a stream if none was requested."""
        return self.entry.stream != (self.behaviour.form == "swapped")

    def require_peer(self) -> None:
        """Raise PeerLeft if the peer has disconnected."""
        transport = self.request.transport
        if transport is None or transport.is_closing():
            raise PeerLeft

    def close(self) -> None:
        """Close the connection; data written before is still delivered."""
        if (transport := self.request.transport) is not None:
            transport.close()

    def reset(self) -> None:
        """Cut the connection with a TCP reset."""
        if (transport := self.request.transport) is None:
            return
        linger = struct.pack("ii", True, 0)
        peer = transport.get_extra_info("socket")
        peer.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
        transport.abort()

    def headers(self) -> dict[str, str]:
        """Return response headers, including many that a gateway must not forward."""
        headers = {
            "x-request-id": f"req-{self.entry.id}",
            "request-id": f"req-{self.entry.id}",
            "x-generation-id": f"gen-{self.entry.id}",
            "openai-organization": ORGANIZATION,
            "openai-processing-ms": "7",
            "openai-version": "2020-10-01",
            "x-served-by": HOST,
            "x-ratelimit-remaining-requests": "4999",
            "set-cookie": "__upstream-session=1; Path=/",
        }
        if self.behaviour.headers == "huge":
            headers["x-debug-trace"] = "t" * HUGE_HEADER_BYTES
        if self.behaviour.headers == "many":
            headers |= {f"x-debug-{index}": HOST for index in range(MANY_HEADERS)}
        return headers
