"""The request that opens a session, with headers or, from browsers, which cannot set any, with subprotocols."""

from collections.abc import Iterator
from typing import Any, NoReturn

from gateway.core.contract.errors import UnsupportedMediaType
from gateway.core.contract.headers import DPOP, IDEMPOTENCY_KEY, MAX_COST

PROTOCOL = "service.realtime.v1"
VENDOR_PROTOCOL = "realtime"

_HEADERS = {
    "service.token.": (b"authorization", "DPoP "),
    "service.proof.": (DPOP.lower().encode(), ""),
    "service.key.": (IDEMPOTENCY_KEY.lower().encode(), ""),
    "service.max.": (MAX_COST.lower().encode(), ""),
}
"""The header that a subprotocol replaces, and the prefix of its value there."""


class Handshake:
    """A WebSocket handshake in the form of a metered request. It has no body.

    A credential that is sent twice, in whichever way, appears twice, and is refused like a repeated header.
    """

    method = "GET"

    def __init__(self, scope: dict[str, Any], request_id: str) -> None:
        self.request_id = request_id
        self.raw_path: bytes = scope.get("raw_path") or scope["path"].encode()
        self.query: bytes = scope["query_string"]
        self.offered: list[str] = scope.get("subprotocols", [])
        self.raw_headers: list[tuple[bytes, bytes]] = [*scope["headers"], *self._credentials()]

    @property
    def subprotocol(self) -> str | None:
        """Return the negotiated subprotocol, None if the client offered no known one."""
        return next((name for name in (PROTOCOL, VENDOR_PROTOCOL) if name in self.offered), None)

    async def read_body(self, limit_bytes: int) -> bytes:
        """Return nothing."""
        return b""

    async def read_form(self, limit_bytes: int) -> NoReturn:
        """Refuse: a handshake has no form."""
        raise UnsupportedMediaType

    def take_memory(self, size_bytes: int) -> None:
        """Do nothing: a handshake reserves no memory."""

    def _credentials(self) -> Iterator[tuple[bytes, bytes]]:
        if PROTOCOL not in self.offered:
            return
        for offer in self.offered:
            for prefix, (header, begin) in _HEADERS.items():
                if offer.startswith(prefix):
                    yield header, (begin + offer.removeprefix(prefix)).encode("latin-1", "replace")
