"""Connections to servers that a stranger names: only to allowed addresses, which are checked again as they are connected to.

Every address of a name must be allowed. The address of the connection itself is checked as a protection against DNS rebinding;
for a URL with an IP address, this is the only check.
"""

import socket
import ssl
from collections.abc import Callable
from typing import Any

import aiohttp
from aiohttp.abc import AbstractResolver, ResolveResult

from gateway.core.outbound.aiohttp_internals import AbortingHandler, Pool
from gateway.core.outbound.fetch_shares import LookUp, Share

Allowed = Callable[[str], bool]
"""Whether an IP address may be connected to."""


class FetchError(Exception):
    """Nothing was fetched. The message is for the party that gave the URL, and reveals nothing about private networks."""


class SlowHostError(FetchError):
    """The host, or its name server, took too long."""

    def __init__(self) -> None:
        super().__init__("its host took too long")


class NotPublicError(FetchError):
    """The name resolves to no address, or to one that is not public."""

    def __init__(self) -> None:
        super().__init__("its host has no public address")


def guarded_pool(
    allowed: Allowed, look_up: LookUp, tls: ssl.SSLContext | None, share: Share, **options: Any
) -> aiohttp.TCPConnector:
    """Return a pool of connections to allowed addresses; `options` are aiohttp's. Its names are looked up within `share`.

    Connecting raises NotPublicError or SlowHostError, besides aiohttp's errors.
    """

    def open_socket(address: aiohttp.AddrInfoType) -> socket.socket:
        family, kind, protocol, _, peer = address
        if not allowed(str(peer[0])):
            raise NotPublicError
        return socket.socket(family, kind, protocol)

    return Pool(
        handler=AbortingHandler,
        resolver=_Resolver(look_up, allowed, share),
        socket_factory=open_socket,
        ssl=tls or True,
        **options,
    )


class _Resolver(AbstractResolver):
    """Resolves names, and refuses a name if any of its addresses is not allowed."""

    def __init__(self, look_up: LookUp, allowed: Allowed, share: Share) -> None:
        self._look_up, self._allowed, self._share = look_up, allowed, share

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_UNSPEC
    ) -> list[ResolveResult]:
        try:
            found = await self._share.look_up(self._look_up, host, port, family)
        except TimeoutError:
            raise SlowHostError from None
        if not found or not all(self._allowed(str(peer[0])) for *_, peer in found):
            raise NotPublicError
        return [_resolved(host, port, *one) for one in found]

    async def close(self) -> None:
        """Do nothing, because no connection is kept open."""


def _resolved(host: str, port: int, family: int, kind: int, protocol: int, name: str, peer: Any) -> ResolveResult:
    return ResolveResult(
        hostname=host, host=peer[0], port=port, family=family, proto=protocol, flags=socket.AI_NUMERICHOST
    )
